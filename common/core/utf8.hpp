// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace shoal {

struct CodePoint {
    char32_t value = 0;
    std::size_t size = 1;  // bytes
};

// The code point that `text`, not empty, begins with; none if it begins with something else.
std::optional<CodePoint> first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace shoal
