// Views of raw bytes. They own nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline ConstBytes as_bytes(std::string_view text)
{
    return std::as_bytes(std::span{text.data(), text.size()});
}
inline std::string_view as_text(ConstBytes bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace shoal
