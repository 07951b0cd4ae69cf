#include "tracker/switchboard.hpp"

#include "tests/unit/tracker/beats.hpp"

#include <gmock/gmock.h>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using wire::HoldState;

class SwitchboardTest : public ::testing::Test {
protected:
    // A beat that asks to be answered at once.
    wire::Reply beat(const wire::Beat& sent)
    {
        wire::Reply reply;
        if (board.take(sent, "10.9.9.9", now, reply) == Switchboard::Answer::now) return reply;
        return tell(sent.peer);
    }
    wire::Reply tell(const PeerId& peer)
    {
        wire::Reply reply = board.reply(peer, now);
        board.told(peer, now);
        return reply;
    }
    // One whose reply may be held.
    void wait(const wire::Beat& sent)
    {
        wire::Reply reply;
        ASSERT_EQ(board.take(sent, "10.9.9.9", now, reply), Switchboard::Answer::may_wait);
        board.hold(sent.peer, now + 3s, now);
    }
    // The held replies that go out within 10 ms.
    std::map<PeerId, wire::Reply> told()
    {
        now += 10ms;
        std::map<PeerId, wire::Reply> replies;
        for (const PeerId& peer : board.release(now)) replies[peer] = tell(peer);
        return replies;
    }
    static std::vector<PeerId> names(const wire::Swarm& swarm)
    {
        std::vector<PeerId> found;
        for (const auto& neighbour : swarm.neighbours) found.push_back(neighbour.peer);
        return found;
    }

    TimePoint now{1h};
    Switchboard board{3s, Topology{}, 1, now - 1h};
};

TEST_F(SwitchboardTest, AWishReachesTheSeederAtOnceAndTheSeederTheFetch)
{
    const auto seeder = seeder_beat(900);
    wait(seeder);
    EXPECT_THAT(told(), SizeIs(1));  // it is new: there is its first reply
    wait(delta_of(seeder));
    EXPECT_THAT(told(), IsEmpty());

    const auto fetch = beat_of(1, {holding(1, HoldState::wanted)});
    wait(fetch);
    auto replies = told();
    ASSERT_TRUE(replies.contains(peer(900)));
    EXPECT_THAT(replies[peer(900)].wishes, ElementsAre(wire::Wish{revision(1), "llama"}));
    wait(delta_of(fetch));
    EXPECT_THAT(told(), IsEmpty());

    auto serving = delta_of(delta_of(seeder), {holding(1, HoldState::held)});
    wait(serving);
    replies = told();
    const auto& swarm = replies.at(peer(1)).swarms.at(0);
    ASSERT_THAT(swarm.neighbours, SizeIs(1));
    EXPECT_EQ(swarm.neighbours[0].peer, peer(900));
    EXPECT_EQ(swarm.neighbours[0].key, numbered<MemberKey>(900));
    EXPECT_EQ(swarm.neighbours[0].role, wire::Role::seeder);
    EXPECT_TRUE(swarm.neighbours[0].dial);
    EXPECT_TRUE(swarm.neighbours[0].complete);
    EXPECT_THAT(swarm.neighbours[0].endpoints, ElementsAre("10.0.3.132:6881"));
    EXPECT_EQ(swarm.wanting, 1U);
    EXPECT_THAT(names(replies.at(peer(900)).swarms.at(0)), ElementsAre(peer(1)));
    EXPECT_THAT(replies.at(peer(900)).wishes, IsEmpty());
}

TEST_F(SwitchboardTest, ASeederIsToldWhoHoldsSomethingAlready)
{
    auto some = holding(1, HoldState::fetching);
    some.bytes_have = 1;
    beat(beat_of(1, {some}));
    beat(beat_of(2, {holding(1, HoldState::fetching)}));
    const auto reply = beat(seeder_beat(900, {holding(1, HoldState::held)}));
    ASSERT_THAT(reply.swarms.at(0).neighbours, SizeIs(2));
    for (const auto& neighbour : reply.swarms[0].neighbours) EXPECT_EQ(neighbour.holds_some, neighbour.peer == peer(1));
}

TEST_F(SwitchboardTest, AWithdrawnRevisionReachesAllThatWantItUnlessAnotherSeederHoldsIt)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    auto bad = seeder_beat(900, {holding(1, HoldState::held)});
    auto good = seeder_beat(901, {holding(1, HoldState::held)});
    beat(bad);
    beat(good);
    bad = delta_of(bad, {holding(1, HoldState::withdrawn, "blobs/aa: expected 1, found 2")});
    beat(bad);
    auto fetch = delta_of(beat_of(1));
    EXPECT_EQ(beat(fetch).swarms.at(0).withdrawn, "");

    wait(delta_of(fetch));
    good.leaving = true;
    beat(good);
    const auto replies = told();
    EXPECT_EQ(replies.at(peer(1)).swarms.at(0).withdrawn, "blobs/aa: expected 1, found 2");
    EXPECT_FALSE(replies.at(peer(1)).swarms.at(0).missing);
    EXPECT_THAT(replies.at(peer(1)).swarms.at(0).neighbours, IsEmpty());
}

TEST_F(SwitchboardTest, ASeederThatWithdrewIsNotWishedAgain)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    EXPECT_THAT(beat(seeder_beat(900, {holding(1, HoldState::withdrawn, "x")})).wishes, IsEmpty());
}

TEST_F(SwitchboardTest, C35_AfterARestartADeltaIsAskedToBeFullAndNothingIsHungUpOn)
{
    now = TimePoint{1h};
    Switchboard restarted{3s, Topology{}, 2, now};
    EXPECT_NE(restarted.id(), board.id());
    wire::Reply reply;
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    EXPECT_EQ(restarted.take(delta_of(first), "", now, reply), Switchboard::Answer::now);
    EXPECT_TRUE(reply.need_full);
    EXPECT_TRUE(reply.young);
    auto full = first;
    full.sequence = 9;
    EXPECT_EQ(restarted.take(full, "", now, reply), Switchboard::Answer::may_wait);
    EXPECT_TRUE(restarted.reply(peer(1), now + 5s).young);
    EXPECT_FALSE(restarted.reply(peer(1), now + 6s).young);
}

TEST_F(SwitchboardTest, SaysHowManyLackPartAndTellsAtOnceWhenNobodyDoes)
{
    const auto first = beat_of(1, {holding(1, HoldState::held)});
    EXPECT_EQ(beat(first).swarms.at(0).wanting, 0U);
    const auto second = beat_of(2, {holding(1, HoldState::fetching)});
    beat(second);
    EXPECT_EQ(beat(delta_of(first)).swarms.at(0).wanting, 1U);
    wait(delta_of(delta_of(first)));
    beat(delta_of(second, {holding(1, HoldState::held)}));
    EXPECT_EQ(told().at(peer(1)).swarms.at(0).wanting, 0U);
}

TEST_F(SwitchboardTest, ASilentProcessIsNobodysNeighbour)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    beat(beat_of(2, {holding(1, HoldState::fetching)}));
    now += 5s;
    auto second = delta_of(beat_of(2));
    EXPECT_THAT(names(beat(second).swarms.at(0)), ElementsAre(peer(1)));
    now += 3s;
    wait(delta_of(second));
    EXPECT_THAT(board.expire(now), ElementsAre(peer(1)));
    EXPECT_THAT(told().at(peer(2)).swarms.at(0).neighbours, IsEmpty());
}

TEST_F(SwitchboardTest, AnOvertakenBeatIsAnsweredAtOnceAndTheLaterOneGoesOnBeingHeld)
{
    beat(beat_of(2, {holding(1, HoldState::fetching)}));
    const auto first = beat_of(1, {holding(1, HoldState::wanted)});
    auto second = beat_of(1, {holding(1, HoldState::fetching)});
    second.sequence = 2;
    wait(second);
    told();
    second.sequence = 3;
    wait(second);
    wire::Reply reply;
    EXPECT_EQ(board.take(first, "10.9.9.9", now, reply), Switchboard::Answer::now);
    EXPECT_FALSE(reply.need_full);
    EXPECT_THAT(names(reply.swarms.at(0)), ElementsAre(peer(2)));
    EXPECT_EQ(board.waiting(), 1U);
    EXPECT_THAT(told(), IsEmpty());
    beat(seeder_beat(900, {holding(1, HoldState::held)}));
    EXPECT_THAT(told(), Contains(::testing::Key(peer(1))));
}

TEST_F(SwitchboardTest, WhoseReplyWasLetGoAndWhoBeatsNoMoreIsGone)
{
    wait(beat_of(1));
    told();
    now += 1s;
    wait(delta_of(beat_of(1)));
    now += 3s;
    EXPECT_THAT(board.release(now), ElementsAre(peer(1)));
    now += 8s;
    EXPECT_THAT(board.expire(now), ElementsAre(peer(1)));
}

TEST_F(SwitchboardTest, WhoWaitedAndIsAnsweredOnANewerBeatIsGoneWhenItBeatsNoMore)
{
    const auto first = beat_of(1);
    wait(first);
    beat(delta_of(first));
    now += 8s;
    EXPECT_THAT(board.expire(now), ElementsAre(peer(1)));
}

TEST_F(SwitchboardTest, ASeederThatCannotServeYetIsNobodysNeighbour)
{
    beat(seeder_beat(900, {holding(1, HoldState::wanted)}));
    EXPECT_THAT(beat(beat_of(1, {holding(1, HoldState::wanted)})).swarms.at(0).neighbours, IsEmpty());
}

TEST_F(SwitchboardTest, OnlySeedersHearWishes)
{
    beat(beat_of(1, {holding(1, HoldState::wanted)}));
    EXPECT_THAT(beat(beat_of(2)).wishes, IsEmpty());
    EXPECT_THAT(beat(seeder_beat(900)).wishes, SizeIs(1));
}

TEST_F(SwitchboardTest, ARevisionThatASeederTriesAnewIsNotWithdrawn)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    auto seeder = seeder_beat(900, {holding(1, HoldState::withdrawn, "flipped")});
    beat(seeder);
    EXPECT_EQ(beat(delta_of(beat_of(1))).swarms.at(0).withdrawn, "flipped");
    beat(seeder = delta_of(seeder, {holding(1, HoldState::wanted, "reading")}));
    EXPECT_EQ(beat(delta_of(delta_of(beat_of(1)))).swarms.at(0).withdrawn, "");
}

// Nobody can dial these, so that they have no neighbours whose changes would be news.
TEST_F(SwitchboardTest, AlsoThoseWithoutNeighboursHearOfAWithdrawalAndOfTheLastThatIsComplete)
{
    const auto hidden = [](wire::Beat beat) {
        beat.dialable = false;
        return beat;
    };
    auto lacking = hidden(beat_of(1, {holding(1, HoldState::fetching)}));
    auto lingering = hidden(beat_of(2, {holding(1, HoldState::held)}));
    auto seeder = hidden(seeder_beat(900, {holding(1, HoldState::held)}));
    for (const auto& one : {lacking, lingering, seeder}) EXPECT_THAT(beat(one).swarms.at(0).neighbours, IsEmpty());
    wait(lacking = delta_of(lacking));
    wait(lingering = delta_of(lingering));
    EXPECT_THAT(told(), IsEmpty());
    auto gone = holding(1, HoldState::withdrawn, "gone");
    gone.missing = true;
    beat(seeder = delta_of(seeder, {gone}));
    const auto said = told().at(peer(1)).swarms.at(0);
    EXPECT_EQ(said.withdrawn, "gone");
    EXPECT_TRUE(said.missing);
    wait(lingering = delta_of(lingering));
    told();
    wait(lingering = delta_of(lingering));
    beat(delta_of(lacking, {holding(1, HoldState::held)}));
    EXPECT_EQ(told().at(peer(2)).swarms.at(0).wanting, 0U);
}

TEST_F(SwitchboardTest, WhoIsOnlyToBeAdmittedHasNoEndpointAndNearnessNeedsANameOfTheRack)
{
    auto first = beat_of(1, {holding(1, HoldState::fetching)});
    first.zone = "z";
    auto second = beat_of(2, {holding(1, HoldState::fetching)});
    second.zone = "z";
    beat(first);
    const auto neighbour = beat(second).swarms.at(0).neighbours.at(0);
    EXPECT_TRUE(neighbour.dial);
    EXPECT_EQ(neighbour.nearness, wire::Nearness::zone);
    const auto other = beat(delta_of(first)).swarms.at(0).neighbours.at(0);
    EXPECT_FALSE(other.dial);
    EXPECT_THAT(other.endpoints, IsEmpty());
}

TEST_F(SwitchboardTest, OfManyHoldingsThoseInWhichNothingMovesAreLeftOut)
{
    std::vector<wire::Holding> many;
    for (std::uint32_t i = 0; i < 100; ++i) many.push_back(holding(i, HoldState::held));
    beat(beat_of(1, {holding(7, HoldState::fetching)}));
    const auto swarms = beat(seeder_beat(900, many)).swarms;
    ASSERT_THAT(swarms, SizeIs(1));
    EXPECT_EQ(swarms[0].revision, revision(7));
}

TEST_F(SwitchboardTest, StockClientsDoNotExceedWhatAReplyMayName)
{
    std::vector<Stranger> strangers;
    for (std::uint32_t i = 0; i < 300; ++i) strangers.push_back({peer(1000 + i), "10.1.1.1:5000", false});
    board.set_strangers(revision(1), "llama", strangers, now);
    EXPECT_LE(beat(beat_of(1, {holding(1, HoldState::fetching)})).swarms.at(0).neighbours.size(), 256U);
}

TEST_F(SwitchboardTest, TheJournalTellsWhatHappenedOnce)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    beat(first);
    const auto second = delta_of(first, {holding(1, HoldState::held)});
    beat(second);
    beat(delta_of(second, {holding(1, HoldState::held)}));
    auto seeder = seeder_beat(900, {holding(1, HoldState::withdrawn, "flipped")});
    beat(seeder);
    beat(delta_of(seeder, {holding(1, HoldState::withdrawn, "flipped")}));
    std::vector<std::string> told;
    for (const Happening& one : board.journal().happenings()) told.push_back(one.what);
    EXPECT_THAT(told, ElementsAre("joined", "fetched", "joined", "withdrawn"));
}

TEST_F(SwitchboardTest, AnAddressThatChangesReachesTheNeighbours)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    auto second = beat_of(2, {holding(1, HoldState::fetching)});
    beat(second);
    auto moved = delta_of(beat_of(1));
    moved.addresses = {"10.8.8.8"};
    wait(delta_of(second));
    told();
    wait(delta_of(delta_of(second)));
    beat(moved);
    ASSERT_THAT(told(), Contains(::testing::Key(peer(2))));
}

TEST_F(SwitchboardTest, C38_TheFirstOfTwoProcessesWithOnePeerIdIsWarned)
{
    const auto first = beat_of(1);
    beat(first);
    wait(delta_of(first));
    auto copy = beat_of(1);
    copy.instance = 2;
    copy.addresses = {"10.7.7.7"};
    EXPECT_THAT(beat(copy).refusal, HasSubstr("is taken"));
    EXPECT_THAT(told().at(peer(1)).warning, HasSubstr("another process"));
}

TEST_F(SwitchboardTest, StockClientsAreNeighboursWithoutAKeyAndASeederHearsOfTheirWish)
{
    const auto seeder = seeder_beat(900);
    beat(seeder);
    wait(delta_of(seeder));
    board.set_strangers(revision(1), "llama", {{peer(77), "10.1.1.1:5000", false}}, now);
    EXPECT_THAT(told().at(peer(900)).wishes, ElementsAre(wire::Wish{revision(1), "llama"}));
    const auto swarm = beat(delta_of(delta_of(seeder), {holding(1, HoldState::held)})).swarms.at(0);
    ASSERT_THAT(swarm.neighbours, SizeIs(1));
    EXPECT_TRUE(swarm.neighbours[0].key.is_zero());
    EXPECT_THAT(swarm.neighbours[0].endpoints, ElementsAre("10.1.1.1:5000"));
    board.set_strangers(revision(1), "llama", {}, now);
    EXPECT_THAT(board.swarms().at(revision(1)).strangers, IsEmpty());
}

TEST_F(SwitchboardTest, ARevisionThatNobodyHoldsOrWantsIsForgotten)
{
    beat(beat_of(1, {holding(1, HoldState::fetching)}));
    beat(beat_of(1, {}));
    EXPECT_THAT(board.swarms(), IsEmpty());
}

TEST_F(SwitchboardTest, C40_AThousandPeersThatJoinTogetherAreEachToldAFewTimes)
{
    std::size_t replies = 0;
    std::map<PeerId, wire::Beat> last;
    for (std::uint32_t i = 1; i <= 1000; ++i) {
        wait(last[peer(i)] = beat_of(i, {holding(1, HoldState::wanted)}));
        now += 1ms;
        for (const PeerId& each : board.release(now)) {
            tell(each);
            ++replies;
            wait(last[each] = delta_of(last[each]));
        }
    }
    EXPECT_LT(replies, 12'000U);
}

}  // namespace
}  // namespace shoal::tracker
