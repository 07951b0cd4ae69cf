#include "tracker/origin_shares.hpp"

#include "common/core/random.hpp"
#include "tests/unit/tracker/beats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::IsEmpty;

class OriginSharesTest : public ::testing::Test {
protected:
    std::vector<PeerId> hear(std::uint8_t from, bool busy, std::uint64_t confirmed = 0, std::uint64_t obeys = 0)
    {
        return shares.heard(peer(from), {obeys, confirmed, busy}, now);
    }
    // A beat in which it says that it has heard the last slice.
    std::vector<PeerId> confirm(std::uint8_t from, bool busy = true) { return hear(from, busy, shares.slice(peer(from)).number); }
    [[nodiscard]] std::uint64_t rate(std::uint8_t of) const { return shares.slice(peer(of)).rate; }

    TimePoint now{1h};
    OriginShares shares{1000, 3s, now - 1min};
};

TEST_F(OriginSharesTest, OneAloneHasAllOfIt)
{
    EXPECT_THAT(hear(1, true), Contains(peer(1)));
    EXPECT_EQ(rate(1), 1000U);
    EXPECT_THAT(confirm(1), IsEmpty());
}

TEST_F(OriginSharesTest, WithoutACeilingNobodyHasASlice)
{
    OriginShares none{0, 3s, now - 1min};
    EXPECT_THAT(none.heard(peer(1), {}, now), IsEmpty());
    EXPECT_EQ(none.slice(peer(1)), wire::OriginSlice{});
}

TEST_F(OriginSharesTest, ANewOneGetsItsPartOnceTheOtherHasConfirmedThatItsShrank)
{
    hear(1, true);
    confirm(1);
    EXPECT_THAT(hear(2, true), Contains(peer(1)));
    EXPECT_EQ(rate(1), 500U);
    EXPECT_EQ(rate(2), 0U);
    hear(1, true, 1);  // a beat that left before it heard that
    EXPECT_EQ(rate(2), 0U);
    EXPECT_THAT(confirm(1), Contains(peer(2)));
    EXPECT_EQ(rate(2), 500U);
}

TEST_F(OriginSharesTest, TheIdleKeepTwoHundredthsAndTheBusyHaveTheRest)
{
    hear(1, true);
    confirm(1);
    hear(2, false);
    confirm(1);
    EXPECT_EQ(rate(1), 980U);
    EXPECT_EQ(rate(2), 20U);
    for (std::uint8_t more = 3; more < 10; ++more) hear(more, false);
    EXPECT_GE(rate(1), 950U);
}

TEST_F(OriginSharesTest, WhoLeavesFreesItsSliceAtOnceAndWhoFallsSilentWhenItEnds)
{
    for (std::uint8_t each = 1; each <= 3; ++each) hear(each, true);
    for (int round = 0; round < 2; ++round)
        for (std::uint8_t each = 1; each <= 3; ++each) confirm(each);
    ASSERT_EQ(rate(3), 333U);
    shares.left(peer(3), now);
    EXPECT_EQ(rate(1), 500U);
    shares.silent(peer(2), now);
    EXPECT_EQ(rate(1), 500U) << "the other 500 may still be read";
    now += 43s;
    shares.pass(now);
    EXPECT_EQ(rate(1), 1000U);
}

TEST_F(OriginSharesTest, ATrackerThatHasJustStartedConfirmsWhatItHearsOfAndGrantsNothingForTwoBeats)
{
    OriginShares young{1000, 3s, now};
    young.heard(peer(1), {700, 0, true}, now);
    young.heard(peer(2), {}, now);
    EXPECT_EQ(young.slice(peer(1)).rate, 700U);
    EXPECT_EQ(young.slice(peer(2)).number, 0U);
    now += 6s;
    young.heard(peer(1), {700, 1, true}, now);
    EXPECT_GT(young.slice(peer(2)).rate, 0U);
}

TEST_F(OriginSharesTest, WhatAnotherTrackerLetsItReadIsNoSliceOfThisOne)
{
    EXPECT_THAT(hear(1, true, 0, 1000), Contains(peer(1)));
    EXPECT_GT(shares.slice(peer(1)).number, 0U);
    EXPECT_EQ(rate(1), 1000U);
}

TEST_F(OriginSharesTest, WhatAnotherTrackerLetsItReadCountsUntilItHasHeardItsSlice)
{
    hear(1, true, 0, 1000);
    hear(2, true);
    EXPECT_EQ(rate(1), 500U);
    EXPECT_EQ(rate(2), 0U);
    confirm(1);
    EXPECT_EQ(rate(2), 500U);
}

// Seeders that hear late, in any order, or not at all: what all of them obey never sums up to more than the ceiling.
class OriginSharesProperty : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(OriginSharesProperty, TheSlicesThatAreObeyedNeverExceedTheCeiling)
{
    struct Obeying {
        wire::OriginSlice slice;
        TimePoint heard;
        std::vector<std::pair<wire::OriginSlice, TimePoint>> on_the_way;  // since
    };
    Random random{GetParam()};
    TimePoint now{1h};
    OriginShares shares{100'000, 3s, now - 1min};
    std::map<std::uint8_t, Obeying> seeders;
    for (int step = 0; step < 3000; ++step) {
        now += std::chrono::milliseconds{random() % 500};
        const auto number = static_cast<std::uint8_t>(random() % 6);
        Obeying& obeying = seeders[number];
        switch (random() % 8) {
        case 0: shares.silent(peer(number), now); break;
        case 1:
            shares.left(peer(number), now);
            seeders.erase(number);
            break;
        case 2:
            if (obeying.on_the_way.size() < 3) obeying.on_the_way.emplace_back(shares.slice(peer(number)), now);
            shares.told(peer(number), now);
            break;
        case 3:
        case 4:
            std::erase_if(obeying.on_the_way, [&](const auto& reply) { return now - reply.second > 13s; });  // it has given the connection up
            if (obeying.on_the_way.empty()) break;
            if (obeying.on_the_way.front().first.number >= obeying.slice.number) obeying.slice = obeying.on_the_way.front().first;
            obeying.on_the_way.erase(obeying.on_the_way.begin());
            obeying.heard = now;
            break;
        case 5: shares.pass(now); break;
        default: shares.heard(peer(number), {obeying.slice.rate, obeying.slice.number, random() % 3 != 0}, now);
        }
        std::uint64_t sum = 0;
        for (const auto& [each, state] : seeders) sum += now - state.heard < 30s ? state.slice.rate : 0;
        ASSERT_LE(sum, 100'000U) << "step " << step << ", seed " << GetParam();
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OriginSharesProperty, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace shoal::tracker
