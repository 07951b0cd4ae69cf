#include "common/policy/handout.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace shoal::policy {
namespace {

using namespace std::chrono_literals;

PeerId peer(std::uint32_t number)
{
    PeerId id;
    for (int i = 0; i < 4; ++i) id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
    return id;
}

Standing fetching(std::string zone = {}, std::string rack = {})
{
    return {.place = {std::move(zone), std::move(rack)}};
}

Standing complete(std::string zone = {})
{
    return {.complete = true, .place = {std::move(zone), {}}};
}

Standing seeder()
{
    return {.role = Role::seeder, .complete = true, .place = {}};
}

Standing behind_nat()
{
    return {.dialable = false, .place = {}};
}

class HandoutTest : public ::testing::Test {
protected:
    void put(std::uint32_t number, const Standing& standing)
    {
        handout.put(peer(number), standing, now, random);
        standings[peer(number)] = standing;
    }
    void put(std::uint32_t first, std::uint32_t count, const Standing& standing)
    {
        for (std::uint32_t i = 0; i < count; ++i) put(first + i, standing);
    }
    void remove(std::uint32_t number)
    {
        handout.remove(peer(number), random);
        standings.erase(peer(number));
    }
    std::set<PeerId> of(std::uint32_t number) const
    {
        std::set<PeerId> found;
        for (const auto& link : handout.neighbours(peer(number))) found.insert(link.peer);
        return found;
    }
    // One beat in which `number` got `bytes` from each of `givers`.
    void beat(std::uint32_t number, const std::vector<std::uint32_t>& givers, std::uint64_t bytes = 100)
    {
        now += 3s;
        std::vector<Received> received;
        for (const std::uint32_t giver : givers) received.push_back({peer(giver), bytes});
        handout.heard(peer(number), received, now, 3s, random);
    }
    std::map<PeerId, bool> changes()
    {
        std::map<PeerId, bool> found;
        for (const auto& change : handout.take_changes()) found[change.peer] = change.urgent;
        return found;
    }

    Random random{7};
    TimePoint now{};
    Handout handout;
    std::map<PeerId, Standing> standings;
};

TEST_F(HandoutTest, KnowsEverybodyInASmallSwarm)
{
    put(1, 8, fetching());
    for (std::uint32_t i = 1; i <= 8; ++i) EXPECT_EQ(of(i).size(), 7U);
}

TEST_F(HandoutTest, OfTwoNeighboursExactlyOneDials)
{
    put(1, 100, fetching());
    for (const auto& [id, standing] : standings) {
        for (const auto& link : handout.neighbours(id)) {
            const auto back = handout.neighbours(link.peer);
            const auto mirrored = std::find_if(back.begin(), back.end(), [&](const auto& other) { return other.peer == id; });
            ASSERT_NE(mirrored, back.end());
            EXPECT_NE(mirrored->dial, link.dial);
        }
    }
}

TEST_F(HandoutTest, APeerThatNobodyCanDialDialsItself)
{
    put(1, behind_nat());
    put(2, fetching());
    put(3, behind_nat());
    ASSERT_EQ(handout.neighbours(peer(1)).size(), 1U);
    EXPECT_EQ(handout.neighbours(peer(1))[0].peer, peer(2));
    EXPECT_TRUE(handout.neighbours(peer(1))[0].dial);
    EXPECT_THAT(of(2), ::testing::UnorderedElementsAre(peer(1), peer(3)));
}

TEST_F(HandoutTest, AHundredPeersGetAboutFortyEach)
{
    put(1, 100, fetching());
    for (int again = 0; again < 2; ++again) put(1, 100, fetching());
    for (std::uint32_t i = 1; i <= 100; ++i) {
        EXPECT_GE(of(i).size(), 24U);
        EXPECT_LE(of(i).size(), 64U);
    }
}

TEST_F(HandoutTest, PrefersTheOwnRackThenTheOwnZoneAndKeepsSomeOutside)
{
    for (std::uint32_t i = 0; i < 600; ++i) put(i, fetching(i % 2 == 0 ? "a" : "b", "r" + std::to_string(i % 20)));
    std::size_t same_rack = 0, same_zone = 0, outside = 0;
    for (const auto& [id, standing] : standings) {
        std::size_t mine_outside = 0;
        for (const auto& link : handout.neighbours(id)) {
            const Place& other = standings.at(link.peer).place;
            if (other == standing.place)
                ++same_rack;
            else if (other.zone == standing.place.zone)
                ++same_zone;
            else
                ++mine_outside;
        }
        EXPECT_GE(mine_outside, 6U);
        outside += mine_outside;
    }
    EXPECT_GT(same_rack, 600U * 10);  // a rack has 30 of the 600: chance would give 2 each
    EXPECT_GT(same_rack + same_zone, outside);
}

TEST_F(HandoutTest, EverySeederKnowsEverybodyWhoLacksPart)
{
    put(1, 50, fetching());
    put(900, seeder());
    put(901, seeder());
    put(60, fetching());
    for (std::uint32_t i : {1U, 50U, 60U}) {
        EXPECT_TRUE(of(i).contains(peer(900)));
        EXPECT_TRUE(of(i).contains(peer(901)));
    }
    EXPECT_EQ(of(900).size(), 51U);
    EXPECT_FALSE(of(900).contains(peer(901)));
}

TEST_F(HandoutTest, ThePeerDialsTheSeederWhoeverCameFirst)
{
    put(1, fetching());
    put(900, seeder());
    EXPECT_TRUE(handout.neighbours(peer(1)).at(0).dial);
    EXPECT_FALSE(handout.neighbours(peer(900)).at(0).dial);
}

TEST_F(HandoutTest, ASeedersNeighboursAreBoundedAndThoseThatLackPartGoFirst)
{
    put(900, seeder());
    put(1, fetching());
    put(1000, 150, complete());
    put(2000, 500, fetching());
    EXPECT_LE(of(900).size(), 200U);
    for (const auto& id : of(900)) EXPECT_FALSE(standings.at(id).complete);
}

TEST_F(HandoutTest, TwoThatHaveAllNeedNotMeet)
{
    put(1, fetching());
    put(2, fetching());
    put(3, fetching());
    put(2, complete());
    put(3, complete());
    EXPECT_THAT(of(1), ::testing::UnorderedElementsAre(peer(2), peer(3)));
    EXPECT_THAT(of(2), ::testing::UnorderedElementsAre(peer(1)));
}

TEST_F(HandoutTest, EndsAllEdgesWhenNobodyLacksAnything)
{
    put(900, seeder());
    put(1, 5, fetching());
    put(1, 5, complete());
    for (std::uint32_t i : {1U, 5U, 900U}) EXPECT_TRUE(of(i).empty());
    EXPECT_EQ(handout.lacking(), 0U);
}

TEST_F(HandoutTest, EndsAllEdgesWhenTheLastWhoLacksPartLeaves)
{
    put(900, seeder());
    put(1, 3, fetching());
    put(1, complete());
    put(2, complete());
    EXPECT_FALSE(of(900).empty());
    remove(3);
    for (std::uint32_t i : {1U, 2U, 900U}) EXPECT_TRUE(of(i).empty()) << i;
}

TEST_F(HandoutTest, WhoHasAllAndItsSeederStayTogetherWhileSomebodyLacksPart)
{
    put(900, seeder());
    put(1, 2, fetching());
    (void)changes();
    put(1, complete());
    EXPECT_TRUE(of(1).contains(peer(900)));
    EXPECT_FALSE(changes().contains(peer(900)));  // not parted and joined again
}

TEST_F(HandoutTest, C29_ALateJoinerGetsThoseThatHaveAllAndTheSeederHearsOfThem)
{
    put(900, seeder());
    put(1, 20, complete());
    put(50, fetching());
    EXPECT_EQ(of(50).size(), 21U);
    put(900, seeder());  // its next beat
    EXPECT_EQ(of(900).size(), 21U);
}

TEST_F(HandoutTest, EdgesStayBetweenBeats)
{
    put(1, 500, fetching());
    put(1, 500, fetching());
    std::map<std::uint32_t, std::set<PeerId>> before;
    for (std::uint32_t i = 1; i <= 500; ++i) before[i] = of(i);
    (void)changes();
    for (int again = 0; again < 5; ++again) put(1, 500, fetching());
    for (std::uint32_t i = 1; i <= 500; ++i) {
        const auto after = of(i);
        EXPECT_TRUE(std::includes(after.begin(), after.end(), before[i].begin(), before[i].end()));
    }
}

TEST_F(HandoutTest, SaysWhoseNeighboursChangedAndWhoCanStart)
{
    put(1, fetching());
    EXPECT_TRUE(changes().empty());
    put(2, fetching());
    EXPECT_EQ(changes(), (std::map<PeerId, bool>{{peer(1), true}, {peer(2), true}}));
    put(3, fetching());
    EXPECT_EQ(changes(), (std::map<PeerId, bool>{{peer(1), false}, {peer(2), false}, {peer(3), true}}));
    put(900, seeder());
    EXPECT_TRUE(changes().at(peer(1)));
    remove(3);
    EXPECT_EQ(changes(), (std::map<PeerId, bool>{{peer(1), false}, {peer(2), false}, {peer(900), false}}));
    EXPECT_TRUE(changes().empty());
}

TEST_F(HandoutTest, ReplacesASourceThatGaveNothingForTwoBeatsWhileItsReceiverStarved)
{
    put(1, 100, complete());
    put(500, fetching());
    const auto before = of(500);
    ASSERT_EQ(before.size(), 40U);
    beat(500, {});
    EXPECT_EQ(of(500), before);
    beat(500, {});
    const auto after = of(500);
    EXPECT_EQ(after.size(), 40U);
    std::set<PeerId> kept;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::inserter(kept, kept.end()));
    EXPECT_EQ(kept.size(), 36U);
}

TEST_F(HandoutTest, KeepsASilentSourceWhileOthersFeedTheReceiver)
{
    put(1, 100, complete());
    put(500, fetching());
    const auto before = of(500);
    const auto giver = handout.neighbours(peer(500)).at(0).peer;
    for (int i = 0; i < 5; ++i) {
        now += 3s;
        handout.heard(peer(500), {{giver, 1}}, now, 3s, random);
    }
    EXPECT_EQ(of(500), before);
}

TEST_F(HandoutTest, KeepsSilentSourcesWhenThereAreNoOthers)
{
    put(1, 5, complete());
    put(500, fetching());
    for (int i = 0; i < 5; ++i) beat(500, {});
    EXPECT_EQ(of(500).size(), 5U);
}

TEST_F(HandoutTest, ManyQuickBeatsAreNotTwoBeats)
{
    put(1, 100, complete());
    put(500, fetching());
    const auto before = of(500);
    for (int i = 0; i < 50; ++i) {
        now += 50ms;
        handout.heard(peer(500), {}, now, 3s, random);
    }
    EXPECT_EQ(of(500), before);
}

TEST_F(HandoutTest, WhoIsExchangedDoesNotComeBack)
{
    put(1, 43, complete());
    put(500, fetching());
    beat(500, {});
    beat(500, {});
    const auto after = of(500);
    for (int i = 0; i < 4; ++i) beat(500, {});
    EXPECT_EQ(of(500), after);  // the only others are those that gave nothing before
}

TEST_F(HandoutTest, KeepsSilentSourcesOfWhoGoesOnVerifying)
{
    put(1, 100, complete());
    Standing growing = fetching();
    put(500, growing);
    const auto before = of(500);
    for (int i = 0; i < 5; ++i) {
        growing.bytes_have += 100;
        put(500, growing);
        beat(500, {});
    }
    EXPECT_EQ(of(500), before);
}

TEST_F(HandoutTest, APeerHasEightSeedersAtMostWhoeverCameFirst)
{
    put(1, fetching());
    put(900, 20, seeder());
    put(2, fetching());
    for (const std::uint32_t number : {1U, 2U}) {
        auto found = of(number);
        found.erase(peer(1));
        found.erase(peer(2));
        EXPECT_EQ(found.size(), 8U);
    }
}

TEST_F(HandoutTest, TwoThatNobodyCanDialDoNotMeetAlsoIfOneIsASeeder)
{
    Standing hidden = seeder();
    hidden.dialable = false;
    put(900, hidden);
    put(1, behind_nat());
    put(2, fetching());
    EXPECT_THAT(of(900), ::testing::ElementsAre(peer(2)));
}

// Small limits, so that few members reach them.
class SmallHandout : public HandoutTest {
protected:
    void limit(const HandoutLimits& limits) { handout = Handout{limits}; }
};

TEST_F(SmallHandout, PeersThatHaveAllTakeHalfOfASeederAndPushNobodyOut)
{
    limit({.at_a_seeder = 4});
    put(900, seeder());
    put(1, fetching());
    put(10, 5, complete());
    const auto before = of(900);
    EXPECT_EQ(before.size(), 2U);
    put(20, 3, complete());
    EXPECT_EQ(of(900), before);
    put(2, 3, fetching());
    EXPECT_THAT(of(900), ::testing::IsSupersetOf({peer(1), peer(2), peer(3), peer(4)}));
}

TEST_F(SmallHandout, NobodyIsPushedBeyondTheMost)
{
    limit({.target = 2, .floor = 2, .most = 3, .least = 0, .rack = 0, .outside = 0, .random = 0});
    put(1, 50, fetching());
    for (std::uint32_t i = 1; i <= 50; ++i) EXPECT_LE(of(i).size(), 3U);
}

TEST_F(SmallHandout, ANewcomerGetsTheLeastAlsoWhereAllHaveTheMost)
{
    limit({.target = 2, .floor = 2, .most = 2, .least = 1, .rack = 0, .outside = 0, .random = 0});
    put(1, 3, fetching());
    for (std::uint32_t i = 1; i <= 3; ++i) ASSERT_EQ(of(i).size(), 2U);
    put(4, fetching());
    EXPECT_EQ(of(4).size(), 1U);
}

TEST_F(SmallHandout, WhoHasNoMoreThanTheReceiverAndASeederAreNotBlamed)
{
    limit({.target = 5, .floor = 10, .most = 100, .least = 0, .rack = 0, .outside = 0, .random = 0});
    put(900, seeder());
    put(1, 30, fetching());
    put(500, fetching());
    const auto before = of(500);
    ASSERT_TRUE(before.contains(peer(900)));
    for (int i = 0; i < 5; ++i) beat(500, {});
    EXPECT_EQ(of(500), before);
}

TEST_F(SmallHandout, PrefersThoseThatCanBeDialled)
{
    limit({.target = 5, .floor = 5, .most = 100, .least = 0, .rack = 0, .outside = 0, .random = 0});
    put(1, 10, behind_nat());
    put(20, 10, fetching());
    put(500, fetching());
    const auto found = of(500);
    ASSERT_EQ(found.size(), 5U);
    for (const PeerId& id : found) EXPECT_TRUE(standings.at(id).dialable);
}

// What must hold of any swarm at any time.
class HandoutProperty : public HandoutTest, public ::testing::WithParamInterface<std::uint64_t> {
protected:
    void check_lists()
    {
        for (const auto& [id, standing] : standings) {
            const auto links = handout.neighbours(id);
            const bool serves = standing.role == Role::seeder;
            ASSERT_LE(links.size(), serves ? 200U : 128U);
            std::set<PeerId> seen;
            for (const auto& link : links) {
                ASSERT_TRUE(standings.contains(link.peer)) << "a dead neighbour";
                ASSERT_NE(link.peer, id);
                ASSERT_TRUE(seen.insert(link.peer).second) << "a neighbour twice";
                ASSERT_TRUE(!link.dial || standings.at(link.peer).dialable);
                adjacent[id].insert(link.peer);
            }
        }
        for (const auto& [id, others] : adjacent)
            for (const auto& other : others) ASSERT_TRUE(adjacent[other].contains(id)) << "not symmetrical";
    }
    // All that lack part reach each other without the seeders.
    void check_connected()
    {
        std::set<PeerId> reached;
        std::vector<PeerId> open;
        const auto visit = [&](const PeerId& id) {
            if (standings.at(id).role == Role::peer && reached.insert(id).second) open.push_back(id);
        };
        const auto lacks = [](const auto& entry) { return entry.second.role == Role::peer && !entry.second.complete; };
        if (const auto start = std::find_if(standings.begin(), standings.end(), lacks); start != standings.end()) visit(start->first);
        while (!open.empty()) {
            const PeerId id = open.back();
            open.pop_back();
            for (const auto& other : adjacent[id]) visit(other);
        }
        for (const auto& entry : standings) ASSERT_TRUE(!lacks(entry) || reached.contains(entry.first)) << "cut off, seed " << GetParam();
    }
    void check()
    {
        adjacent.clear();
        check_lists();
        if (!HasFatalFailure()) check_connected();
    }
    Standing any()
    {
        Standing standing = fetching("z" + std::to_string(random() % 3), random() % 2 == 0 ? "" : "r" + std::to_string(random() % 30));
        standing.complete = random() % 5 == 0;
        standing.dialable = random() % 5 != 0;
        return standing;
    }

    std::map<PeerId, std::set<PeerId>> adjacent;
};

TEST_P(HandoutProperty, AThousandPeersThatComeAndGoStayOneBoundedSymmetricalGraph)
{
    random.seed(GetParam());
    put(5000, 2, seeder());
    put(1, 50, fetching());
    for (int step = 0; step < 3000; ++step) {
        const auto number = 100 + static_cast<std::uint32_t>(random() % 1000);
        if (random() % 3 == 0)
            remove(number);
        else
            put(number, any());
        if (step % 1000 == 999) check();
        if (HasFatalFailure()) return;
    }
    for (std::uint32_t number = 100; number < 1100; number += 2) remove(number);  // half vanish at once
    check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, HandoutProperty, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace shoal::policy
