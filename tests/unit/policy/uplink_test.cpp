#include "common/policy/uplink.hpp"

#include <gtest/gtest.h>

namespace shoal::policy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t piece = 256U << 10U;

TEST(Uplink, BeginsWithTheLeast)
{
    Uplink uplink{{.least = 4 * piece}};
    EXPECT_EQ(uplink.window(piece, TimePoint{100s}), 4 * piece);
    EXPECT_EQ(uplink.window(16 * piece, TimePoint{100s}), 32 * piece);  // two pieces at least
}

TEST(Uplink, FollowsWhatIsSent)
{
    Uplink uplink;
    TimePoint now{100s};
    for (int i = 0; i < 100; ++i, now += 10ms) uplink.sent(120'000, now);  // 12 MB/s
    const std::uint64_t window = uplink.window(piece, now);
    EXPECT_GT(window, 3'800'000U);
    EXPECT_LT(window, 4'600'000U);
}

TEST(Uplink, RemembersItsBestForTwoSecondsAndNoLonger)
{
    Uplink uplink;
    TimePoint now{100s};
    for (int i = 0; i < 100; ++i, now += 10ms) uplink.sent(120'000, now);
    EXPECT_GT(uplink.window(piece, now + 1500ms), 3'800'000U);
    EXPECT_LT(uplink.window(piece, now + 5s), 1'100'000U);
}

TEST(Uplink, IsBounded)
{
    Uplink uplink{{.most = 10 * piece}};
    const TimePoint now{100s};
    uplink.sent(1U << 30U, now);
    EXPECT_EQ(uplink.window(piece, now), 10 * piece);
}

}  // namespace
}  // namespace shoal::policy
