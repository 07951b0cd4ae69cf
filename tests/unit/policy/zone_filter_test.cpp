#include "common/policy/zone_filter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
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
        zone.emplace_back(peer(i), "home", pieces);
        zone.back().met("abroad");
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
    for (const ZoneFilter& filter : zone) found += filter.heeds({piece}, "abroad", now) ? 1 : 0;
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
    for (std::uint32_t piece = 0; piece < pieces; ++piece) EXPECT_TRUE(zone[0].heeds({piece}, "abroad", start));
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
    EXPECT_TRUE(filter.heeds({others}, "abroad", start + 4s));
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

TEST(ZoneFilter, WhereASeederShowsPiecesNothingComesFromElsewhereUnlessItStops)
{
    auto zone = zone_of(4);
    for (ZoneFilter& filter : zone) {
        filter.shown_by({{peer(100), "home"}});
        filter.offered_abroad({7}, start);
    }
    EXPECT_EQ(heeding(zone, 7, start), 0U);
    EXPECT_EQ(heeding(zone, 7, start + 4s), 2U);
    for (ZoneFilter& filter : zone) filter.shown_by({});
    EXPECT_EQ(heeding(zone, 7, start), 1U);
}

// Three zones with one peer each, and a seeder in the first.
struct ThreeZones {
    std::vector<std::string> names{"a", "b", "c"};
    std::vector<ZoneFilter> filters;

    explicit ThreeZones(const std::vector<ZoneFilter::Seeder>& seeders)
    {
        for (std::size_t own = 0; own < names.size(); ++own) {
            filters.emplace_back(peer(static_cast<std::uint8_t>(own + 1)), names[own], pieces);
            for (std::size_t other = 0; other < names.size(); ++other)
                if (other != own) filters.back().met(names[other]);
            filters.back().shown_by(seeders);
        }
    }
    // The zones from which a piece may come into one.
    std::string sources(std::size_t zone, std::uint32_t piece, TimePoint now) const
    {
        std::string found;
        for (std::size_t other = 0; other < names.size(); ++other)
            if (other != zone && filters[zone].heeds({piece}, names[other], now)) found += names[other];
        return found;
    }
};

TEST(ZoneFilter, EachPieceGoesFromZoneToZoneAndNoZoneGivesItToTwo)
{
    const ThreeZones zones{{{peer(100), "a"}}};
    std::map<std::string, std::size_t> into_c;
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        const std::string b = zones.sources(1, piece, start);
        const std::string c = zones.sources(2, piece, start);
        EXPECT_EQ(zones.sources(0, piece, start), "");
        EXPECT_TRUE((b == "a" && c == "b") || (b == "c" && c == "a")) << piece << ": " << b << c;
        ++into_c[c];
    }
    EXPECT_GT(into_c["a"], pieces / 4);
    EXPECT_GT(into_c["b"], pieces / 4);
}

TEST(ZoneFilter, WhatTheZoneBeforeDoesNotHaveForASecondComesFromAny)
{
    ThreeZones zones{{{peer(100), "a"}}};
    for (ZoneFilter& filter : zones.filters) filter.offered_abroad({7}, start);
    EXPECT_EQ(zones.sources(1, 7, start + 999ms).size() + zones.sources(2, 7, start + 999ms).size(), 2U);
    EXPECT_EQ(zones.sources(1, 7, start + 1s), "ac");
    EXPECT_EQ(zones.sources(2, 7, start + 1s), "ab");
    EXPECT_EQ(zones.sources(0, 7, start + 999ms), "");
    EXPECT_EQ(zones.sources(0, 7, start + 1s), "bc");  // it was shown there before anybody was here
}

TEST(ZoneFilter, WhoIsConnectedToNobodyInTheZoneBeforeTakesFromTheOneBeforeThat)
{
    ThreeZones zones{{{peer(100), "a"}}};
    std::uint32_t from_b = 0;
    while (zones.sources(2, from_b, start) != "b") ++from_b;
    zones.filters[2].met("b");
    zones.filters[2].parted("b");
    EXPECT_EQ(zones.sources(2, from_b, start), "b");  // one connection is left
    zones.filters[2].parted("b");
    EXPECT_EQ(zones.sources(2, from_b, start), "a");
}

TEST(ZoneFilter, WithASeederInEachOfTwoZonesEachTakesWhatTheOtherIsShown)
{
    const ThreeZones zones{{{peer(100), "a"}, {peer(101), "b"}}};
    std::size_t from_b = 0;
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        EXPECT_NE(zones.sources(0, piece, start).empty(), zones.sources(1, piece, start).empty()) << piece;
        from_b += zones.sources(1, piece, start).empty() ? 1 : 0;
    }
    EXPECT_GT(from_b, pieces / 4);
    EXPECT_LT(from_b, pieces * 3 / 4);
}

TEST(ZoneFilter, WhatASeederShowsEverywhereComesFromAnyZone)
{
    const ThreeZones zones{{{peer(100), {}}}};
    EXPECT_EQ(zones.sources(0, 7, start), "bc");
    EXPECT_EQ(zones.sources(1, 7, start), "ac");
}

}  // namespace
}  // namespace shoal::policy
