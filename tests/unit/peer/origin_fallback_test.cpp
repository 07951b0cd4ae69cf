// When a fetch turns to the object store, and what it reads there.
#include "peer/origin_fallback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace shoal::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Change = OriginFallback::Change;

const TimePoint start{seconds{1000}};
constexpr Duration stall = seconds{60};

PeerId peer(std::uint8_t number)
{
    PeerId id;
    id.bytes[0] = number;
    return id;
}

OriginFallback fallback(std::uint64_t seed = 1, std::uint8_t self = 1)
{
    return {peer(self), start, stall, seed};
}

// The moment at which it begins, by looks every 100 ms.
Duration begins_after(OriginFallback& one, const SwarmFacts& facts, TimePoint from = start)
{
    for (Duration waited{}; waited < stall; waited += milliseconds{100})
        if (one.saw(facts, from + waited) == Change::began) return waited;
    return stall;
}

Missing missing(std::uint32_t nobodys, std::uint32_t held, std::vector<PeerId> peers = {})
{
    Missing all;
    for (std::uint32_t i = 0; i < nobodys; ++i) all.nobodys.push_back({i});
    for (std::uint32_t i = 0; i < held; ++i) all.held.push_back({nobodys + i});
    all.peers = std::move(peers);
    all.pieces = nobodys + held;
    return all;
}

std::set<std::uint32_t> numbers(const std::vector<PieceIndex>& pieces)
{
    std::set<std::uint32_t> found;
    for (const PieceIndex piece : pieces) found.insert(piece.value);
    return found;
}

TEST(OriginFallback, BeginsAfterTheQuietAndNeverLaterThanTwiceIt)
{
    std::set<Duration> moments;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        OriginFallback one = fallback(seed);
        const Duration waited = begins_after(one, {0, 0, false, 5});
        EXPECT_GE(waited, longest_quiet);
        EXPECT_LE(waited, 2 * longest_quiet + milliseconds{100});
        moments.insert(waited);
    }
    EXPECT_GT(moments.size(), 30U);  // not all at once
}

TEST(OriginFallback, ASeederThatIsConnectedGetsMoreTime)
{
    OriginFallback one = fallback();
    const Duration waited = begins_after(one, {0, 0, true, 5});
    EXPECT_GE(waited, 3 * longest_quiet);
    EXPECT_LT(waited, stall);
}

TEST(OriginFallback, AllOfTheWaitFitsIntoAShortStallTimeout)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        OriginFallback one{peer(1), start, seconds{6}, seed};
        EXPECT_LT(begins_after(one, {0, 0, true, 5}), seconds{5});
    }
}

TEST(OriginFallback, ATrickleKeepsItFromBeginning)
{
    OriginFallback one = fallback();
    SwarmFacts facts{0, 0, false, 5};
    for (int second = 0; second < 300; second += 9) {
        ++facts.from_peers;
        EXPECT_EQ(one.saw(facts, start + seconds{second}), Change::none);
    }
}

TEST(OriginFallback, EndsWhenASeederGivesAgainAndWaitsAnewThen)
{
    OriginFallback one = fallback();
    const TimePoint began = start + begins_after(one, {0, 0, false, 5});
    EXPECT_EQ(one.saw({0, 0, true, 5}, began + seconds{1}), Change::none);  // connected is not given
    EXPECT_EQ(one.saw({1, 0, true, 5}, began + seconds{2}), Change::ended);
    EXPECT_FALSE(one.reading());
    EXPECT_GE(begins_after(one, {1, 0, false, 5}, began + seconds{2}), longest_quiet);
}

TEST(OriginFallback, PeersThatGiveWhatOthersReadDoNotEndItUnlessTheyHoldAllThatIsMissing)
{
    OriginFallback one = fallback();
    const TimePoint began = start + begins_after(one, {0, 0, false, 5});
    EXPECT_EQ(one.saw({0, 100, false, 5}, began + seconds{1}), Change::none);
    EXPECT_EQ(one.saw({0, 100, false, 0}, began + seconds{2}), Change::none);  // they hold it, and give nothing
    EXPECT_EQ(one.saw({0, 101, false, 0}, began + seconds{3}), Change::ended);
}

TEST(OriginFallback, AloneItReadsAllThatIsMissingInAnyOrder)
{
    OriginFallback one = fallback(1);
    OriginFallback other = fallback(2);
    const auto first = one.choose(missing(1000, 0), 1000, start);
    const auto second = other.choose(missing(1000, 0), 1000, start);
    EXPECT_EQ(numbers(first).size(), 1000U);
    EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
    EXPECT_NE(first, second);
    EXPECT_EQ(one.choose(missing(1000, 0), 7, start).size(), 7U);
}

TEST(OriginFallback, PeersThatKnowEachOtherReadDifferentPieces)
{
    const std::vector<PeerId> all{peer(1), peer(2), peer(3)};
    std::map<std::uint32_t, int> readers;
    for (const PeerId& self : all) {
        std::vector<PeerId> others;
        std::copy_if(all.begin(), all.end(), std::back_inserter(others), [&self](const PeerId& id) { return id != self; });
        OriginFallback one{self, start, stall, self.bytes[0]};
        for (const std::uint32_t piece : numbers(one.choose(missing(300, 0, others), 300, start))) ++readers[piece];
    }
    EXPECT_EQ(readers.size(), 300U);
    for (const auto& [piece, count] : readers) EXPECT_EQ(count, 1) << piece;
}

TEST(OriginFallback, ReadsThePartOfAPeerThatDoesNotReadOnceNothingComes)
{
    OriginFallback one = fallback();
    OriginFallback other = fallback(1, 2);
    Missing rest = missing(100, 0, {peer(1)});
    rest.nobodys = other.choose(rest, 100, start);  // the other's part
    rest.peers = {peer(2)};
    const TimePoint began = start + begins_after(one, {0, 0, false, 5});
    one.saw({0, 1, false, 5}, began);
    EXPECT_TRUE(one.choose(rest, 100, began + longest_quiet / 5 - milliseconds{1}).empty());
    EXPECT_EQ(one.choose(rest, 100, began + longest_quiet / 5).size(), rest.nobodys.size());
}

TEST(OriginFallback, WhatOthersHoldIsLeftToThemUnlessTheyKeepSilent)
{
    OriginFallback one = fallback();
    const TimePoint began = start + begins_after(one, {0, 0, false, 0});
    EXPECT_TRUE(one.choose(missing(0, 10, {peer(2)}), 10, began + longest_quiet - seconds{1}).empty());
    EXPECT_EQ(one.choose(missing(0, 10, {peer(2)}), 10, began + 2 * longest_quiet).size(), 10U);
    const auto chosen = one.choose(missing(5, 5, {peer(2)}), 10, began + 2 * longest_quiet);
    EXPECT_TRUE(std::all_of(chosen.begin(), chosen.end(), [](PieceIndex piece) { return piece.value < 5; }));
}

}  // namespace
}  // namespace shoal::peer
