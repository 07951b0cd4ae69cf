#include "seeder/origin_slices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal::seeder {
namespace {

using namespace std::chrono_literals;

TrackerId tracker(std::uint8_t number)
{
    TrackerId id;
    id.bytes[0] = number;
    return id;
}

class OriginSlicesTest : public ::testing::Test {
protected:
    void hear(std::uint8_t from, bool capped, wire::OriginSlice slice = {})
    {
        wire::Reply reply;
        reply.tracker = tracker(from);
        reply.origin_capped = capped;
        reply.origin = slice;
        slices.heard(reply, now);
    }
    [[nodiscard]] std::optional<std::uint64_t> rate() const { return slices.rate(now); }

    TimePoint now{1h};
    OriginSlices slices;
};

TEST_F(OriginSlicesTest, WithoutACeilingThereIsNone)
{
    EXPECT_EQ(rate(), std::nullopt);
    hear(1, false);
    EXPECT_EQ(rate(), std::nullopt);
}

TEST_F(OriginSlicesTest, NothingIsReadBeforeTheFirstSlice)
{
    hear(1, true);
    EXPECT_EQ(rate(), 0U);
    hear(1, true, {100, 1});
    EXPECT_EQ(rate(), 100U);
}

TEST_F(OriginSlicesTest, TheLeastOfSeveralTrackersCounts)
{
    hear(1, true, {100, 1});
    hear(2, true, {60, 4});
    hear(3, false);
    EXPECT_EQ(rate(), 60U);
    hear(2, true, {80, 5});
    EXPECT_EQ(rate(), 80U);
}

TEST_F(OriginSlicesTest, ATrackerThatHasJustStartedTakesNothingAway)
{
    hear(1, true, {100, 1});
    hear(2, true);
    EXPECT_EQ(rate(), 100U);
}

TEST_F(OriginSlicesTest, ASliceEndsAfterHalfAMinuteAndATenthOfItIsLeft)
{
    hear(1, true, {100, 1});
    now += 30s - 1ms;
    EXPECT_EQ(rate(), 100U);
    now += 1ms;
    EXPECT_EQ(rate(), 10U);
    hear(1, true, {70, 2});
    EXPECT_EQ(rate(), 70U);
}

TEST_F(OriginSlicesTest, ACeilingThatIsTakenAwayIsGone)
{
    hear(1, true, {100, 1});
    hear(1, false);
    EXPECT_EQ(rate(), std::nullopt);
    hear(1, true, {100, 1});
    hear(2, false);
    now += 25s;
    hear(2, false);
    now += 10s;
    EXPECT_EQ(rate(), std::nullopt) << "the other is gone, and this one has none";
}

TEST_F(OriginSlicesTest, AnOlderReplyThatComesLaterIsNotTaken)
{
    hear(1, true, {50, 3});
    hear(1, true, {100, 2});
    EXPECT_EQ(rate(), 50U);
}

TEST_F(OriginSlicesTest, OnceASliceHasEndedATrackerThatHasForgottenItCountsAnew)
{
    hear(1, true, {50, 9});
    now += 30s;
    hear(1, true, {100, 1});
    EXPECT_EQ(rate(), 100U);
}

TEST_F(OriginSlicesTest, WhatIsHeldIsConfirmedToEachTracker)
{
    hear(1, true, {100, 7});
    now += 20s;
    hear(2, true, {60, 4});
    hear(3, true);
    EXPECT_THAT(slices.confirmed(now), ::testing::ElementsAre(wire::Confirmed{tracker(1), 7}, wire::Confirmed{tracker(2), 4}));
    now += 10s;
    EXPECT_THAT(slices.confirmed(now), ::testing::ElementsAre(wire::Confirmed{tracker(2), 4}));
}

}  // namespace
}  // namespace shoal::seeder
