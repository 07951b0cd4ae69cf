#include "seeder/rate_bucket.hpp"
#include "seeder/traffic.hpp"

#include <gtest/gtest.h>

namespace shoal::seeder {
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

TEST(Traffic, KeepsWhatARevisionMovedBeforeItWasDropped)
{
    Traffic traffic;
    const RevisionId revision{{1}};
    EXPECT_EQ(traffic.now(revision, {100, 300}).sent, 300U);
    EXPECT_EQ(traffic.now(revision, {100, 350}).sent, 50U);
    traffic.removed(revision);
    EXPECT_EQ(traffic.now(revision, {10, 20}).sent, 20U);
    EXPECT_EQ(traffic.total(revision).from_origin, 110U);
    EXPECT_EQ(traffic.total(revision).sent, 370U);
}

TEST(Traffic, NeverGoesBack)
{
    Traffic traffic;
    const RevisionId revision{{1}};
    traffic.now(revision, {100, 300});
    EXPECT_EQ(traffic.now(revision, {50, 200}).sent, 0U);
    EXPECT_EQ(traffic.total(revision).sent, 300U);
}

TEST(Traffic, ForgetsWhatIsNotKnownAnyMore)
{
    Traffic traffic;
    traffic.now({{1}}, {1, 1});
    traffic.now({{2}}, {2, 2});
    traffic.keep([](const RevisionId& revision) { return revision == RevisionId{{2}}; });
    EXPECT_EQ(traffic.total({{1}}).sent, 0U);
    EXPECT_EQ(traffic.total({{2}}).sent, 2U);
}

}  // namespace
}  // namespace shoal::seeder
