#include "common/net/http_text.hpp"

#include <algorithm>

namespace shoal::net {
namespace {

// False where a value is not percent-encoded as it should be.
bool parse_query(std::string_view query, std::map<std::string, std::string>& out)
{
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        const auto equals = pair.find('=');
        const auto key = percent_decode(pair.substr(0, equals));
        const auto value = percent_decode(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
        if (!key || !value) return false;
        if (!pair.empty()) out.insert_or_assign(key.value(), value.value());
    }
    return true;
}

}  // namespace

std::string lower(std::string_view text)
{
    std::string result{text};
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
}

bool parse_target(std::string_view target, Request& request)
{
    if (!target.starts_with('/')) return false;
    const auto mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string_view::npos) request.raw_query = target.substr(mark + 1);
    return parse_query(request.raw_query, request.query);
}

}  // namespace shoal::net
