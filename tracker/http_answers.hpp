// How the tracker's HTTP side answers: JSON, bytes and problems (RFC 9457), each with headers that keep browsers from guessing. Any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/net/http.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace shoal::tracker {

net::Response problem(int status, const std::string& title, const std::string& detail);
net::Response problem(const Error& error);  // status by the error's code; detail is its text
net::Response json_answer(const nlohmann::json& value);
enum class Caching { none, immutable };
net::Response bytes_answer(const std::string& content_type, const std::string& content, Caching caching);

// A page of a sorted list: `limit` items (1 to 1000, default 100) after `cursor`, which is the key of the last one seen.
struct Page {
    std::size_t limit = 100;
    std::string cursor;
};
Result<Page> page_of(const net::Request& request);

// The keys of the page, and the cursor of the next one, empty at the end. `keys` sorted.
struct Slice {
    std::vector<std::string> keys;
    std::string next;
};
Slice slice(const std::vector<std::string>& keys, const Page& page);

}  // namespace shoal::tracker
