#include "tracker/roster.hpp"

#include "tests/unit/tracker/beats.hpp"

#include <gmock/gmock.h>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::HoldState;
using Kind = Taken::Kind;

class RosterTest : public ::testing::Test {
protected:
    Taken take(const wire::Beat& beat, const std::string& remote = "10.9.9.9") { return roster.take(beat, remote, {}, now); }
    std::vector<PeerId> expire() { return roster.expire(now).gone; }

    TimePoint now{};
    Roster roster{3s};
};

TEST_F(RosterTest, KnowsWhatAFullBeatSaysAndADeltaChanges)
{
    const auto first = beat_of(1, {holding(1, HoldState::held), holding(2, HoldState::fetching)});
    EXPECT_EQ(take(first).kind, Kind::taken);
    auto delta = delta_of(first, {holding(2, HoldState::held), holding(3, HoldState::wanted)});
    delta.dropped = {revision(1)};
    EXPECT_EQ(take(delta).kind, Kind::taken);
    EXPECT_EQ(roster.find(peer(1), revision(1)), nullptr);
    EXPECT_EQ(roster.find(peer(1), revision(2))->state, HoldState::held);
    EXPECT_EQ(roster.find(peer(1), revision(3))->state, HoldState::wanted);
}

TEST_F(RosterTest, AFullBeatEndsWhatItDoesNotName)
{
    take(beat_of(1, {holding(1, HoldState::held), holding(2, HoldState::held)}));
    const auto taken = take(beat_of(1, {holding(2, HoldState::held)}));
    EXPECT_EQ(roster.find(peer(1), revision(1)), nullptr);
    EXPECT_THAT(taken.touched, ::testing::Contains(::testing::Field(&Touched::revision, revision(1))));
}

TEST_F(RosterTest, ADeltaWithoutItsBaseIsAskedToBeFull)
{
    EXPECT_EQ(take(delta_of(beat_of(1, {}), {holding(1, HoldState::held)})).kind, Kind::need_full);
    EXPECT_EQ(roster.find(peer(1)), nullptr);
    const auto first = beat_of(1);
    take(first);
    const auto skipped = delta_of(delta_of(first));  // the one between went to another tracker
    EXPECT_EQ(take(skipped).kind, Kind::need_full);
    EXPECT_EQ(take(delta_of(first)).kind, Kind::taken);
}

class OvertakenBeat : public RosterTest, public ::testing::WithParamInterface<bool> {};

TEST_P(OvertakenBeat, ChangesNothing)
{
    const auto first = beat_of(1);
    auto second = delta_of(first, {holding(1, HoldState::fetching)});
    second.full = GetParam();
    second.addresses = {"10.8.8.8"};
    take(first);
    auto third = beat_of(1, {holding(1, HoldState::held)});
    third.sequence = 3;
    take(third);
    const auto late = take(second);
    EXPECT_EQ(late.kind, Kind::overtaken);
    EXPECT_THAT(late.touched, IsEmpty());
    EXPECT_FALSE(late.moved);
    EXPECT_EQ(roster.find(peer(1), revision(1))->state, HoldState::held);
    EXPECT_THAT(roster.find(peer(1))->endpoints, ElementsAre("10.0.0.1:6881"));
    EXPECT_EQ(take(delta_of(third)).kind, Kind::taken);
}

INSTANTIATE_TEST_SUITE_P(DeltaAndFull, OvertakenBeat, ::testing::Bool());

TEST_F(RosterTest, AnOvertakenBeatShowsThatItsSenderIsAlive)
{
    auto first = beat_of(1);
    auto second = beat_of(1);
    second.sequence = 2;
    take(second);
    now += 7s;
    take(first);
    now += 7s;
    EXPECT_THAT(expire(), IsEmpty());
}

TEST_F(RosterTest, ABeatThatIsSentOnceMoreIsTakenOnceMore)
{
    take(beat_of(1));
    const auto second = delta_of(beat_of(1), {holding(1, HoldState::fetching)});
    take(second);
    EXPECT_EQ(take(second).kind, Kind::taken);
    EXPECT_EQ(roster.find(peer(1), revision(1))->state, HoldState::fetching);
}

TEST_F(RosterTest, ARestartedProcessCountsItsBeatsAnew)
{
    auto old = beat_of(1, {holding(1, HoldState::held)});
    old.sequence = 500;
    take(old);
    auto again = beat_of(1, {holding(2, HoldState::held)});
    again.instance = 2;
    EXPECT_EQ(take(again).kind, Kind::taken);
    EXPECT_NE(roster.find(peer(1), revision(2)), nullptr);
}

TEST_F(RosterTest, WhoMissesTwoBeatsIsGone)
{
    take(beat_of(1, {holding(1, HoldState::held)}));
    now += 7s;
    EXPECT_THAT(expire(), IsEmpty());
    now += 1s;
    EXPECT_THAT(expire(), ElementsAre(peer(1)));
    EXPECT_EQ(roster.find(peer(1)), nullptr);
}

TEST_F(RosterTest, WhoseReplyIsHeldIsAlive)
{
    take(beat_of(1));
    roster.set_waits(peer(1), true, now);
    now += 1h;
    EXPECT_THAT(expire(), IsEmpty());
    roster.set_waits(peer(1), false, now);
    now += 7s;
    EXPECT_THAT(expire(), IsEmpty());
    now += 1s;
    EXPECT_THAT(expire(), ElementsAre(peer(1)));
}

TEST_F(RosterTest, C37_AfterALongSleepItIsBackWithWhatItReallyHolds)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    take(first);
    now += 10min;
    EXPECT_THAT(expire(), ElementsAre(peer(1)));
    EXPECT_EQ(take(delta_of(first)).kind, Kind::need_full);
    auto full = beat_of(1, {holding(2, HoldState::held)});
    full.sequence = 3;
    EXPECT_EQ(take(full).kind, Kind::taken);
    EXPECT_EQ(roster.find(peer(1), revision(1)), nullptr);
    EXPECT_NE(roster.find(peer(1), revision(2)), nullptr);
}

TEST_F(RosterTest, WhoLeavesIsForgottenAtOnce)
{
    auto beat = beat_of(1, {holding(1, HoldState::held)});
    take(beat);
    beat.leaving = true;
    const auto taken = take(beat);
    EXPECT_EQ(taken.kind, Kind::left);
    EXPECT_THAT(taken.gone, ElementsAre(peer(1)));
    EXPECT_EQ(roster.find(peer(1)), nullptr);
}

TEST_F(RosterTest, C23_AnAddressThatComesBackWithAnotherPeerIdIsAnotherNode)
{
    auto older = beat_of(1, {holding(1, HoldState::held)});
    auto newer = beat_of(2, {holding(2, HoldState::wanted)});
    older.addresses = newer.addresses = {"10.0.0.7"};
    take(older);
    const auto taken = take(newer);
    EXPECT_THAT(taken.gone, ElementsAre(peer(1)));
    EXPECT_EQ(roster.find(peer(1)), nullptr);
    EXPECT_TRUE(roster.find(peer(2))->dialable);
}

TEST_F(RosterTest, TwoLiveProcessesThatSeemToShareAnAddressDoNotEndEachOtherForEver)
{
    auto one = beat_of(1);
    auto two = beat_of(2);
    one.addresses = two.addresses = {};
    take(one, "10.0.0.1");
    take(two, "10.0.0.1");
    take(one, "10.0.0.1");
    take(two, "10.0.0.1");
    ASSERT_NE(roster.find(peer(1)), nullptr);
    ASSERT_NE(roster.find(peer(2)), nullptr);
    EXPECT_NE(roster.find(peer(1))->dialable, roster.find(peer(2))->dialable);
}

TEST_F(RosterTest, C38_ASecondProcessWithAPeerIdIsRefusedWhileTheFirstIsAliveAndBothAreTold)
{
    take(beat_of(1));
    auto copy = beat_of(1);
    copy.instance = 2;
    copy.addresses = {"10.7.7.7"};
    const auto refused = take(copy);
    EXPECT_EQ(refused.kind, Kind::refused);
    EXPECT_THAT(refused.refusal, HasSubstr("10.0.0.1:6881"));
    EXPECT_THAT(roster.warning(peer(1), now), HasSubstr("another process"));
    EXPECT_EQ(roster.find(peer(1))->beat.instance, 1U);
    now += 5s;  // the first misses a beat
    EXPECT_EQ(take(copy).kind, Kind::taken);
    EXPECT_EQ(roster.find(peer(1))->beat.instance, 2U);
}

TEST_F(RosterTest, C38_ARestartedProcessOnTheSamePortTakesItsPlaceAtOnce)
{
    take(beat_of(1, {holding(1, HoldState::held)}));
    auto again = beat_of(1);
    again.instance = 2;
    EXPECT_EQ(take(again).kind, Kind::taken);
    EXPECT_EQ(roster.find(peer(1), revision(1)), nullptr);
    EXPECT_EQ(roster.warning(peer(1), now), "");
}

TEST_F(RosterTest, TheFarewellOfATwinDoesNotEndTheOther)
{
    take(beat_of(1));
    auto copy = beat_of(1);
    copy.instance = 2;
    copy.addresses = {"10.7.7.7"};
    copy.leaving = true;
    EXPECT_EQ(take(copy).kind, Kind::left);
    EXPECT_NE(roster.find(peer(1)), nullptr);
    EXPECT_EQ(roster.warning(peer(1), now), "");
}

TEST_F(RosterTest, C38_WhoseReplyIsHeldIsNotTakenForDead)
{
    take(beat_of(1));
    roster.set_waits(peer(1), true, now);
    now += 1h;
    auto copy = beat_of(1);
    copy.instance = 2;
    copy.addresses = {"10.7.7.7"};
    EXPECT_EQ(take(copy).kind, Kind::refused);
}

TEST_F(RosterTest, C38_TwoWithoutAnEndpointAreNotOneInTheOthersPlace)
{
    auto first = beat_of(1);
    first.port = 0;
    take(first);
    auto copy = first;
    copy.instance = 2;
    EXPECT_EQ(take(copy).kind, Kind::refused);
    now += 4s;
    take(delta_of(first));
    EXPECT_NE(roster.warning(peer(1), now), "");
    now += 4s;  // the other has given up
    EXPECT_EQ(roster.warning(peer(1), now), "");
}

TEST_F(RosterTest, ARestartedProcessIsNotAliveByTheReplyHeldForTheFormer)
{
    take(beat_of(1));
    roster.set_waits(peer(1), true, now);
    auto again = beat_of(1);
    again.instance = 2;
    EXPECT_EQ(take(again).kind, Kind::taken);
    now += 8s;
    EXPECT_THAT(expire(), ElementsAre(peer(1)));
}

TEST_F(RosterTest, WhatItsNeighboursMustHearOfMovesIt)
{
    const auto first = beat_of(1, {holding(1, HoldState::held)});
    EXPECT_TRUE(take(first).moved);
    EXPECT_FALSE(take(first).moved);
    auto changed = first;
    changed.key = numbered<MemberKey>(77);
    EXPECT_TRUE(take(changed).moved);
    changed.zone = "z";
    EXPECT_TRUE(take(changed).moved);
    changed.role = wire::Role::seeder;
    EXPECT_TRUE(take(changed).moved);
    changed.dialable = false;
    EXPECT_TRUE(take(changed).moved);
    EXPECT_FALSE(take(changed).moved);
}

TEST_F(RosterTest, AnEndpointThatItHasLeftIsFreeForAnother)
{
    auto beat = beat_of(1);
    take(beat);
    beat.addresses = {"10.8.8.8"};
    take(beat);
    auto other = beat_of(2);
    other.addresses = {"10.0.0.1"};
    EXPECT_THAT(take(other).gone, IsEmpty());
    EXPECT_TRUE(roster.find(peer(2))->dialable);
}

TEST_F(RosterTest, WhoHasNotGotTheEndpointDoesNotTakeItAwayByLeaving)
{
    auto one = beat_of(1);
    auto two = beat_of(2);
    one.addresses = two.addresses = {"10.0.0.7"};
    take(one);
    take(two);
    take(one);  // it lost the endpoint before: not believed
    one.leaving = true;
    take(one);
    auto three = beat_of(3);
    three.addresses = {"10.0.0.7"};
    EXPECT_THAT(take(three).gone, ElementsAre(peer(2)));
}

TEST_F(RosterTest, WhatIsDroppedIsTouched)
{
    const auto first = beat_of(1, {holding(1, HoldState::held)});
    take(first);
    auto delta = delta_of(first);
    delta.dropped = {revision(1), revision(2)};
    const auto taken = take(delta);
    ASSERT_EQ(taken.touched.size(), 1U);
    EXPECT_EQ(taken.touched[0].revision, revision(1));
}

TEST_F(RosterTest, LongTroublesAreCutAndManyAddressesAreNotUsed)
{
    auto beat = beat_of(1, {holding(1, HoldState::fetching, std::string(4096, 'x'))});
    for (int i = 2; i < 10; ++i) beat.addresses.push_back("10.0.0." + std::to_string(i));
    take(beat);
    EXPECT_EQ(roster.find(peer(1), revision(1))->trouble.size(), 1024U);
    EXPECT_EQ(roster.find(peer(1))->endpoints.size(), 4U);
}

TEST_F(RosterTest, WhoComesAndGoesTakesNoRoom)
{
    Roster small{3s, {.members = 2, .holdings = 3}};
    for (int i = 0; i < 10; ++i) {
        auto beat = beat_of(1, {holding(1, HoldState::held), holding(2, HoldState::held)});
        EXPECT_EQ(small.take(beat, "", {}, now).kind, Kind::taken) << i;
        beat.leaving = true;
        small.take(beat, "", {}, now);
    }
}

TEST_F(RosterTest, DialsWhereTheBeatCameFromWhenNoAddressIsTold)
{
    auto beat = beat_of(1);
    beat.addresses = {};
    take(beat, "::ffff:10.1.1.1");
    EXPECT_THAT(roster.find(peer(1))->endpoints, ElementsAre("10.1.1.1:6881"));
    beat = beat_of(2);
    beat.addresses = {"example.com", "0.0.0.0", "fd00::1"};
    take(beat);
    EXPECT_THAT(roster.find(peer(2))->endpoints, ElementsAre("[fd00::1]:6881"));
}

TEST_F(RosterTest, ThePlaceInTheBeatGoesBeforeTheTopologys)
{
    auto beat = beat_of(1);
    beat.zone = "mine";
    roster.take(beat, "10.0.0.1", {"theirs", "r1"}, now);
    EXPECT_EQ(roster.find(peer(1))->place, (Place{"mine", "r1"}));
}

TEST_F(RosterTest, WhatIsBeyondItsLimitsIsRefusedByName)
{
    Roster small{3s, {.members = 2, .holdings = 3}};
    EXPECT_EQ(small.take(beat_of(1), "", {}, now).kind, Kind::taken);
    EXPECT_EQ(small.take(beat_of(2, {holding(1, HoldState::held), holding(2, HoldState::held)}), "", {}, now).kind, Kind::taken);
    EXPECT_THAT(small.take(beat_of(3), "", {}, now).refusal, HasSubstr("2 processes"));
    EXPECT_THAT(small.take(beat_of(1, {holding(1, HoldState::held), holding(2, HoldState::held)}), "", {}, now).refusal, HasSubstr("3 holdings"));
    EXPECT_EQ(small.take(beat_of(2, {holding(1, HoldState::held), holding(3, HoldState::held), holding(4, HoldState::held)}), "", {}, now).kind, Kind::taken);
    auto wordy = beat_of(1);
    wordy.zone = std::string(256, 'z');
    EXPECT_THAT(small.take(wordy, "", {}, now).refusal, HasSubstr("zone"));
    wordy.zone.clear();
    wordy.labels["a"] = std::string(5000, 'x');
    EXPECT_THAT(small.take(wordy, "", {}, now).refusal, HasSubstr("labels"));
}

}  // namespace
}  // namespace shoal::tracker
