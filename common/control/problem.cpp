#include "common/control/problem.hpp"

#include <algorithm>
#include <charconv>

namespace shoal::control {
namespace {

constexpr std::size_t longest = 1000;

void append_utf8(std::string& text, unsigned point)
{
    if (point < 0x80) {
        text.push_back(static_cast<char>(point));
    } else if (point < 0x800) {
        text.push_back(static_cast<char>(0xc0U | point >> 6U));
        text.push_back(static_cast<char>(0x80U | (point & 0x3fU)));
    } else {
        text.push_back(static_cast<char>(0xe0U | point >> 12U));
        text.push_back(static_cast<char>(0x80U | (point >> 6U & 0x3fU)));
        text.push_back(static_cast<char>(0x80U | (point & 0x3fU)));
    }
}

// One escape after its backslash; false where it is none.
bool unescape(std::string_view& rest, std::string& text)
{
    static constexpr std::string_view from = "\"\\/bfnrt";

    if (rest.starts_with('u') && rest.size() >= 5) {
        unsigned point = 0;
        const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + 5, point, 16);
        if (error != std::errc{} || end != rest.data() + 5) return false;
        append_utf8(text, point < 0x20 ? ' ' : point >= 0xd800 && point < 0xe000 ? '?' : point);
        rest.remove_prefix(5);
        return true;
    }
    const auto at = rest.empty() ? std::string_view::npos : from.find(rest[0]);
    if (at == std::string_view::npos) return false;
    text.push_back(at < 3 ? from[at] : ' ');  // line ends and their kind would break a message in two
    rest.remove_prefix(1);
    return true;
}

// The string that begins at `rest`, without its first quote.
std::optional<std::string> string_at(std::string_view rest)
{
    std::string text;
    while (!rest.empty() && text.size() < longest) {
        const char c = rest[0];
        rest.remove_prefix(1);
        if (c == '"') return text;
        if (c != '\\')
            text.push_back(c);
        else if (!unescape(rest, text))
            return std::nullopt;
    }
    return rest.empty() ? std::nullopt : std::optional{text};
}

std::optional<std::string> member(std::string_view body, std::string_view quoted_key)
{
    const auto at = body.find(quoted_key);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = body.substr(at + quoted_key.size());
    for (const char expected : {':', '"'}) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
        if (!rest.starts_with(expected)) return std::nullopt;
        rest.remove_prefix(1);
    }
    return string_at(rest);
}

}  // namespace

std::optional<std::string> problem_detail(std::string_view body)
{
    auto detail = member(body, "\"detail\"");
    return detail ? detail : member(body, "\"title\"");
}

}  // namespace shoal::control
