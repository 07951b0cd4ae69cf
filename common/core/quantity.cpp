#include "common/core/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

namespace shoal {
namespace {

struct Unit {
    std::string_view suffix;
    double factor;
};

constexpr double kib = 1024;
constexpr std::array<Unit, 12> size_units{{{"", 1}, {"B", 1}, {"KiB", kib}, {"MiB", kib* kib}, {"GiB", kib* kib* kib}, {"TiB", kib* kib* kib* kib}, {"KB", 1e3},
    {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"K", kib}}};
constexpr std::array<Unit, 17> rate_units{
    {{"", 1}, {"B/s", 1}, {"KiB/s", kib}, {"MiB/s", kib* kib}, {"GiB/s", kib* kib* kib}, {"KB/s", 1e3}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9},
        {"bit", 0.125}, {"kbit", 125}, {"Kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"Tbit", 125e9}, {"MiB", kib* kib}, {"MB", 1e6}}};
constexpr std::array<Unit, 6> duration_units{{{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};
constexpr double largest_size = 9223372036854774784.0;  // the largest double below 2^63
constexpr double longest = 10 * 365 * 86400e3;

// `number` times the factor of its unit, or NaN where either does not parse.
double scaled(std::string_view text, std::span<const Unit> units)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error == std::errc{} && std::isfinite(number) && !text.starts_with('-')) {
        const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
        for (const Unit& unit : units) {
            if (unit.suffix == suffix) return number * unit.factor;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

Error refused(std::string_view kind, std::string_view text, std::string_view expected)
{
    return {Errc::invalid, "not a " + std::string{kind} + ": '" + std::string{text.substr(0, 100)} + "': expected " + std::string{expected}, {}};
}

std::string decimal(double value, const char* unit)
{
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string two_units(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit)
{
    std::string text;
    if (large != 0) text += std::to_string(large) + large_unit;
    if (small != 0 || large == 0) text += std::to_string(small) + small_unit;
    return text;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text)
{
    const double bytes = scaled(text, size_units);
    if (!(bytes <= largest_size)) return failure(refused("size", text, "such as 64MiB, 10GB or a number of bytes"));
    return static_cast<std::uint64_t>(bytes);
}

Result<std::uint64_t> parse_rate(std::string_view text)
{
    const double rate = scaled(text, rate_units);
    if (!(rate >= 1 && rate <= largest_size)) return failure(refused("rate", text, "such as 5Gbit, 200MB/s or bytes per second, at least 1"));
    return static_cast<std::uint64_t>(rate);
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text)
{
    const double milliseconds = scaled(text, duration_units);
    if (!(milliseconds <= longest)) return failure(refused("duration", text, "such as 200ms, 30s, 10m, 1h, 7d or seconds, up to 10 years"));
    return std::chrono::milliseconds{static_cast<std::int64_t>(milliseconds)};
}

std::string format_size(std::uint64_t bytes)
{
    static constexpr std::array<const char*, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return std::to_string(bytes) + " B";
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < names.size(); ++unit) value /= 1024;
    return decimal(value, names[unit]);
}

std::string format_rate(std::uint64_t bytes_per_second)
{
    static constexpr std::array<const char*, 4> names{"B/s", "kB/s", "MB/s", "GB/s"};
    auto value = static_cast<double>(bytes_per_second);
    std::size_t unit = 0;
    for (; value >= 1000 && unit + 1 < names.size(); ++unit) value /= 1000;
    return decimal(value, names[unit]);
}

std::string format_duration(std::chrono::milliseconds duration)
{
    const auto total = duration.count();
    if (total < 1000) return std::to_string(total) + "ms";
    const auto seconds = total / 1000;
    if (seconds < 60) return two_units(0, "", seconds, "s");
    if (seconds < 3600) return two_units(seconds / 60, "m", seconds % 60, "s");
    return two_units(seconds / 3600, "h", seconds / 60 % 60, "m");
}

}  // namespace shoal
