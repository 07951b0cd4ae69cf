#include "common/core/utf8.hpp"

#include <cstdint>

namespace shoal {
namespace {

struct Form {
    std::size_t size;
    char32_t lead_bits;
    char32_t least;  // what fits no shorter form
};

std::optional<Form> form_of(std::uint8_t lead)
{
    if (lead < 0x80U) return Form{1, lead, 0};
    if (lead >= 0xc2U && lead < 0xe0U) return Form{2, lead & 0x1fU, 0x80};
    if (lead >= 0xe0U && lead < 0xf0U) return Form{3, lead & 0x0fU, 0x800};
    if (lead >= 0xf0U && lead < 0xf5U) return Form{4, lead & 0x07U, 0x10000};
    return std::nullopt;
}

}  // namespace

std::optional<CodePoint> first_code_point(std::string_view text)
{
    const auto form = form_of(static_cast<std::uint8_t>(text.front()));
    if (!form || text.size() < form->size) return std::nullopt;
    char32_t value = form->lead_bits;
    for (std::size_t i = 1; i < form->size; ++i) {
        const auto byte = static_cast<std::uint8_t>(text[i]);
        if ((byte & 0xc0U) != 0x80U) return std::nullopt;
        value = (value << 6U) | (byte & 0x3fU);
    }
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < form->least || surrogate || value > 0x10ffff) return std::nullopt;
    return CodePoint{value, form->size};
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const auto point = first_code_point(text);
        if (!point) return false;
        text.remove_prefix(point->size);
    }
    return true;
}

}  // namespace shoal
