// What an answer of S3 means for the request that it answers, and how long to wait before the next. Pure.
#pragma once

#include "common/core/random.hpp"
#include "common/objectstore/http_exchange.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace shoal::objectstore {

enum class Verdict {
    answer,        // the caller's to read, good or bad
    again,         // after a pause
    other_keys,    // the keys have ended: once with newer ones
    other_clock,   // ours is wrong: once by the store's
    other_address  // where `location` says
};

// `problem` is the code of an error's body.
Verdict judge(const HttpReply& reply, const std::string& problem);

// Whether the store may have done what was asked although no good answer came.
bool may_have_happened(const HttpReply& reply);

// Seconds or an HTTP date; `now` is the time of day.
std::optional<std::chrono::seconds> parse_retry_after(const std::string& text, std::int64_t now);

// Grows from 0.1 s to 5 s, half of it by chance, so that many do not come back at once; as told by the store, and up to a second more.
Duration pause_before(unsigned attempt, std::optional<std::chrono::seconds> told, Random& random);

// "Wed, 21 Oct 2015 07:28:00 GMT" and "2015-10-21T07:28:00Z" as seconds since 1970.
std::optional<std::int64_t> parse_http_date(const std::string& text);
std::optional<std::int64_t> parse_iso_date(const std::string& text);

}  // namespace shoal::objectstore
