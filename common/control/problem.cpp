#include "common/control/problem.hpp"

#include "common/json/reader.hpp"

#include <algorithm>

namespace shoal::control {
namespace {

constexpr std::size_t longest = 1000;

// On one line, and no longer than a message may be.
std::string shown(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // not inside a character
    return text.substr(0, end);
}

}  // namespace

std::optional<std::string> problem_detail(std::string_view body)
{
    const auto problem = json::parse(body);
    if (!problem) return std::nullopt;
    for (const char* name : {"detail", "title"}) {
        json::Reader reader{problem.value()};
        const std::string text = reader.text(name);
        if (reader.result()) return shown(text);
    }
    return std::nullopt;
}

}  // namespace shoal::control
