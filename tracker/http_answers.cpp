#include "tracker/http_answers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::size_t max_page = 1000;

std::map<std::string, std::string> headers(Caching caching)
{
    return {{"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "DENY"}, {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
        {"Cache-Control", caching == Caching::immutable ? "public, max-age=31536000, immutable" : "no-store"}};
}

// Text from beats may be no UTF-8.
std::string dump(const nlohmann::json& value)
{
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::pair<int, const char*> status_of(Errc code)
{
    switch (code) {
    case Errc::invalid:
    case Errc::malformed: return {400, "Bad request"};
    case Errc::not_found: return {404, "Not found"};
    case Errc::not_allowed: return {403, "Not allowed"};
    case Errc::too_large: return {413, "Too large"};
    case Errc::integrity: return {502, "The store's bytes are wrong"};
    case Errc::timed_out:
    case Errc::io: return {503, "The store does not answer"};
    default: return {500, "Internal error"};
    }
}

}  // namespace

net::Response problem(int status, const std::string& title, const std::string& detail)
{
    const nlohmann::json body{{"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}};
    return {.status = status, .content_type = "application/problem+json", .body = dump(body), .headers = headers(Caching::none)};
}

net::Response problem(const Error& error)
{
    const auto [status, title] = status_of(error.code);
    return problem(status, title, error.text());
}

net::Response json_answer(const nlohmann::json& value)
{
    return {.status = 200, .content_type = "application/json", .body = dump(value), .headers = headers(Caching::none)};
}

net::Response bytes_answer(const std::string& content_type, const std::string& content, Caching caching)
{
    return {.status = 200, .content_type = content_type, .body = content, .headers = headers(caching)};
}

Result<Page> page_of(const net::Request& request)
{
    Page page;
    if (const auto cursor = request.query.find("cursor"); cursor != request.query.end()) page.cursor = cursor->second;
    const auto limit = request.query.find("limit");
    if (limit == request.query.end()) return page;
    const std::string& text = limit->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page.limit);
    if (error != std::errc{} || end != text.data() + text.size() || page.limit == 0 || page.limit > max_page)
        return failure(Errc::invalid, "limit: '" + text.substr(0, 40) + "': expected 1 to " + std::to_string(max_page));
    return page;
}

Slice slice(const std::vector<std::string>& keys, const Page& page)
{
    const auto first = page.cursor.empty() ? keys.begin() : std::upper_bound(keys.begin(), keys.end(), page.cursor);
    const auto left = static_cast<std::size_t>(keys.end() - first);
    const std::size_t taken = std::min(left, page.limit);
    Slice slice{{first, first + static_cast<std::ptrdiff_t>(taken)}, {}};
    if (taken < left) slice.next = slice.keys.back();
    return slice;
}

}  // namespace shoal::tracker
