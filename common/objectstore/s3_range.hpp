// Whether an answer of S3 holds the bytes that were asked for, or proves that the object ends before them. Pure.
#pragma once

#include "common/objectstore/http_exchange.hpp"

#include <cstdint>
#include <optional>

namespace shoal::objectstore {

struct Wanted {
    std::uint64_t offset;
    std::uint64_t size;
    [[nodiscard]] std::uint64_t end() const { return offset + size; }
};

std::optional<std::uint64_t> content_length(const HttpReply& reply);

// The object's size where a reply shows it to be too short for what is wanted.
std::optional<std::uint64_t> shown_size(const HttpReply& reply, const Wanted& wanted);

// Whether a good status has what it should: these bytes of the object, or the proof that it ends before.
bool keeps_its_word(const HttpReply& reply, const Wanted& wanted);

}  // namespace shoal::objectstore
