// Looks through msgpack before it is unpacked, so that unpacking allocates no more than the input justifies. Pure.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/result.hpp"

#include <cstddef>

namespace shoal::wire {

inline constexpr std::size_t max_depth = 8;
inline constexpr std::size_t max_text = 4096;   // bytes of a string or binary
inline constexpr std::size_t max_items = 4096;  // of an array
inline constexpr std::size_t max_keys = 256;    // of a map

// One msgpack value, whole, inside the limits above, without extension types. An unpacked value takes 24 bytes whatever it says, so their number is
// bounded by the input's size too: a third of the bytes, and 4096. Fails with malformed or too_large.
Result<void> check_msgpack(ConstBytes bytes);

}  // namespace shoal::wire
