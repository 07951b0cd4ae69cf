// Sizes, rates and durations as people write them. Pure.
#pragma once

#include "common/core/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

// "64MiB", "10MB", "1.5GiB", or a bare number of bytes. 0 to 2^63-1; anything else is invalid and the message names the text.
Result<std::uint64_t> parse_size(std::string_view text);

// Bytes per second: "5Gbit" (decimal bits), "200MB/s", "64MiB/s", or a bare number of bytes per second. At least 1.
Result<std::uint64_t> parse_rate(std::string_view text);

// "200ms", "30s", "10m", "1h", "7d", or a bare number of seconds. 0 to 10 years.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// "1.5 GiB", "12 KiB", "900 B"; "12.3 MB/s"; "1m30s".
std::string format_size(std::uint64_t bytes);
std::string format_rate(std::uint64_t bytes_per_second);
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace shoal
