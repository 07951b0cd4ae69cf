#include "common/policy/zone_filter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::policy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t pieces = 400;
constexpr TimePoint start{1000s};

PeerId peer(std::uint8_t number)
{
    PeerId id;
    id.bytes.fill(number);
    return id;
}

// The filters of peers 1 to `count`, who know each other.
std::vector<ZoneFilter> zone_of(std::uint8_t count)
{
    std::vector<ZoneFilter> zone;
    for (std::uint8_t i = 1; i <= count; ++i) {
        zone.emplace_back(peer(i), pieces);
        for (std::uint8_t j = 1; j <= count; ++j)
            if (j != i) zone.back().joined(peer(j));
    }
    return zone;
}

std::size_t owners(const std::vector<ZoneFilter>& zone, std::uint32_t piece)
{
    std::size_t found = 0;
    for (const ZoneFilter& filter : zone) found += filter.mine({piece}) ? 1 : 0;
    return found;
}

std::size_t heeding(const std::vector<ZoneFilter>& zone, std::uint32_t piece, TimePoint now)
{
    std::size_t found = 0;
    for (const ZoneFilter& filter : zone) found += filter.heeds({piece}, now) ? 1 : 0;
    return found;
}

TEST(ZoneFilter, EachPieceIsOnePeersAndAllGetAboutAsMany)
{
    const auto zone = zone_of(4);
    std::vector<std::size_t> shares(zone.size());
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        EXPECT_EQ(owners(zone, piece), 1U) << piece;
        for (std::size_t i = 0; i < zone.size(); ++i) shares[i] += zone[i].mine({piece}) ? 1 : 0;
    }
    for (const std::size_t share : shares) {
        EXPECT_GT(share, pieces / 4 / 2);
        EXPECT_LT(share, pieces / 4 * 3 / 2);
    }
}

TEST(ZoneFilter, APeerThatIsAloneTakesAll)
{
    const auto zone = zone_of(1);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) EXPECT_TRUE(zone[0].heeds({piece}, start));
}

TEST(ZoneFilter, WhenOneLeavesOnlyItsPiecesFindAnother)
{
    auto zone = zone_of(4);
    const auto before = zone;
    zone.pop_back();
    for (ZoneFilter& filter : zone) filter.left(peer(4));
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        EXPECT_EQ(owners(zone, piece), 1U) << piece;
        if (before[3].mine({piece})) continue;
        for (std::size_t i = 0; i < zone.size(); ++i) EXPECT_EQ(zone[i].mine({piece}), before[i].mine({piece}));
    }
}

TEST(ZoneFilter, WhatComesNoFurtherIsLetThroughToTwiceAsManyEachTime)
{
    auto zone = zone_of(8);
    for (ZoneFilter& filter : zone) filter.offered_abroad({7}, start);
    EXPECT_EQ(heeding(zone, 7, start + 3999ms), 1U);
    EXPECT_EQ(heeding(zone, 7, start + 4s), 2U);
    EXPECT_EQ(heeding(zone, 7, start + 8s), 4U);
    EXPECT_EQ(heeding(zone, 7, start + 12s), 8U);
    EXPECT_EQ(heeding(zone, 7, start + 24h), 8U);
    EXPECT_EQ(heeding(zone, 8, start + 24h), 1U);  // nobody offered it
}

TEST(ZoneFilter, AskingAgainDoesNotStartTheWaitAnew)
{
    ZoneFilter filter = zone_of(2)[0];
    std::uint32_t others = 0;
    while (filter.mine({others})) ++others;
    for (int second = 0; second < 4; ++second) filter.offered_abroad({others}, start + second * 1s);
    EXPECT_TRUE(filter.heeds({others}, start + 4s));
}

TEST(ZoneFilter, WhatTheOwnZoneHoldsDoesNotComeAcrossUnlessItComesNoFurther)
{
    auto zone = zone_of(4);
    for (ZoneFilter& filter : zone) filter.offered_abroad({7}, start);
    for (ZoneFilter& filter : zone) filter.held_at_home({7}, start + 3s);
    EXPECT_EQ(heeding(zone, 7, start + 3s), 0U);
    EXPECT_EQ(heeding(zone, 7, start + 6s), 0U);
    EXPECT_EQ(heeding(zone, 7, start + 7s), 2U);
}

}  // namespace
}  // namespace shoal::policy
