#include "common/core/quantity.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

using namespace std::chrono_literals;

TEST(Quantity, ReadsSizesAsPeopleWriteThem)
{
    EXPECT_EQ(parse_size("0").value(), 0U);
    EXPECT_EQ(parse_size("17").value(), 17U);
    EXPECT_EQ(parse_size("64MiB").value(), 64U << 20U);
    EXPECT_EQ(parse_size("10MB").value(), 10'000'000U);
    EXPECT_EQ(parse_size("1.5GiB").value(), 3ULL << 29U);
}

TEST(Quantity, ReadsRatesInBitsAndBytes)
{
    EXPECT_EQ(parse_rate("5Gbit").value(), 625'000'000U);
    EXPECT_EQ(parse_rate("200MB/s").value(), 200'000'000U);
    EXPECT_EQ(parse_rate("1000").value(), 1000U);
}

TEST(Quantity, ReadsDurations)
{
    EXPECT_EQ(parse_duration("200ms").value(), 200ms);
    EXPECT_EQ(parse_duration("30s").value(), 30s);
    EXPECT_EQ(parse_duration("7d").value(), 168h);
    EXPECT_EQ(parse_duration("1.5").value(), 1500ms);
}

TEST(Quantity, C80_RefusesWhatIsNoQuantity)
{
    for (const char* text : {"", "-1", "1e9", "9223372036854775808", "99999999999999999999999", "nan", "inf", "12 MiB", "MiB", "1XB", "0x10"}) {
        EXPECT_EQ(parse_size(text).error().code, Errc::invalid) << text;
    }
    for (const char* text : {"", "0", "-5", "1e9", "5Gbits", "nan"}) EXPECT_EQ(parse_rate(text).error().code, Errc::invalid) << text;
    for (const char* text : {"", "-1s", "1e3", "11y", "9223372036854775808"}) EXPECT_EQ(parse_duration(text).error().code, Errc::invalid) << text;
}

TEST(Quantity, PrintsWhatPeopleRead)
{
    EXPECT_EQ(format_size(900), "900 B");
    EXPECT_EQ(format_size(1536), "1.5 KiB");
    EXPECT_EQ(format_size(64U << 20U), "64 MiB");
    EXPECT_EQ(format_rate(12'300'000), "12 MB/s");
    EXPECT_EQ(format_duration(90s), "1m30s");
    EXPECT_EQ(format_duration(60s), "1m");
    EXPECT_EQ(format_duration(0s), "0ms");
    EXPECT_EQ(format_duration(90min), "1h30m");
    EXPECT_EQ(format_duration(3600s), "1h");
}

}  // namespace
}  // namespace shoal
