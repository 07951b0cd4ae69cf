#include "common/policy/rate_bucket.hpp"

#include <gtest/gtest.h>

namespace shoal::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint start{std::chrono::hours{5}};

TEST(RateBucket, WithoutARateNobodyWaits)
{
    RateBucket bucket{0};
    EXPECT_EQ(bucket.reserve(1U << 30U, start), start);
    EXPECT_EQ(bucket.reserve(1U << 30U, start), start);
}

TEST(RateBucket, EachWaitsForThoseBefore)
{
    RateBucket bucket{1000};
    EXPECT_EQ(bucket.reserve(500, start), start);
    EXPECT_EQ(bucket.reserve(2000, start), start + milliseconds{500});
    EXPECT_EQ(bucket.reserve(1, start + milliseconds{100}), start + milliseconds{2500});
}

TEST(RateBucket, WhatWasNotUsedIsNotSavedUp)
{
    RateBucket bucket{1000};
    bucket.reserve(1000, start);
    const TimePoint later = start + seconds{60};
    EXPECT_EQ(bucket.reserve(1000, later), later);
    EXPECT_EQ(bucket.reserve(1000, later), later + seconds{1});
}

TEST(RateBucket, BeginsNoMoreInASecondThanTheRateAndOneReservation)
{
    RateBucket bucket{1000};
    std::uint64_t begun = 0;
    while (bucket.reserve(70, start) < start + seconds{1}) begun += 70;
    EXPECT_LE(begun, 1070U);
    EXPECT_GE(begun, 980U);
}

TEST(RateBucket, AnAbsurdReservationDoesNotOverflow)
{
    RateBucket bucket{1};
    EXPECT_EQ(bucket.reserve(UINT64_MAX, start), start);
    EXPECT_GT(bucket.reserve(UINT64_MAX, start), start);
}

}  // namespace
}  // namespace shoal::policy
