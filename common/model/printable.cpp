#include "common/core/utf8.hpp"
#include "common/model/names.hpp"

#include <cstdint>
#include <string_view>

namespace shoal::model {
namespace {

// What moves a terminal's cursor, reorders or hides text, ends a line, or ends a quotation.
bool escaped(char32_t point)
{
    if (point < 0x20 || point == '\'' || point == '"' || point == '\\' || (point >= 0x7f && point < 0xa0)) return true;
    if (point >= 0x200b && point <= 0x200f) return true;  // zero width, direction marks
    if (point >= 0x2028 && point <= 0x202e) return true;  // line separators, direction overrides
    return (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

void append_escaped(std::string& out, std::string_view bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        out += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    }
}

}  // namespace

std::string printable(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const auto point = first_code_point(text);
        const std::string_view bytes = text.substr(0, point ? point->size : 1);
        if (!point || escaped(point->value))
            append_escaped(out, bytes);
        else
            out += bytes;
        text.remove_prefix(bytes.size());
    }
    return out;
}

}  // namespace shoal::model
