#include "common/policy/rate_bucket.hpp"

#include <gtest/gtest.h>

namespace shoal::policy {
namespace {

using namespace std::chrono_literals;

class RateBucketTest : public ::testing::Test {
protected:
    // Takes as soon as it may for a second; bytes.
    std::uint64_t move_for_a_second(std::uint64_t at_once)
    {
        std::uint64_t moved = 0;
        for (const TimePoint end = now + 1s; bucket.next(now) < end;) {
            now = bucket.next(now);
            bucket.take(at_once, now);
            moved += at_once;
        }
        return moved;
    }

    TimePoint now{1h};
    RateBucket bucket{1000};
};

TEST_F(RateBucketTest, InASecondTheRateAndOneMoreAtMostBegin)
{
    now += 1min;  // nothing is saved up
    EXPECT_EQ(move_for_a_second(100), 1000U);
    EXPECT_LE(move_for_a_second(300), 1300U);
}

TEST_F(RateBucketTest, WithoutARateAllBeginsAtOnce)
{
    RateBucket free{std::nullopt};
    free.take(1'000'000, now);
    EXPECT_EQ(free.next(now), now);
}

TEST_F(RateBucketTest, AnAbsurdAmountDoesNotOverflow)
{
    bucket.take(UINT64_MAX, now);
    EXPECT_GE(bucket.next(now), now + 1h);
    EXPECT_LE(bucket.next(now), now + RateBucket::never);
}

TEST_F(RateBucketTest, AtZeroNothingBegins)
{
    bucket.set_rate(0, now);
    EXPECT_GE(bucket.next(now), now + 1h);
}

TEST_F(RateBucketTest, AnotherRateHoldsAtOnceForWhatIsOwed)
{
    bucket.take(1000, now);
    now += 500ms;
    bucket.set_rate(100, now);
    EXPECT_EQ(bucket.next(now), now + 5s);
    bucket.set_rate(5000, now);
    EXPECT_EQ(bucket.next(now), now + 100ms);
    bucket.set_rate(std::nullopt, now);
    EXPECT_EQ(bucket.next(now), now);
}

}  // namespace
}  // namespace shoal::policy
