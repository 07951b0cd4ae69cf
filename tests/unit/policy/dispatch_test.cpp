#include "common/policy/dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace shoal::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Shows = std::vector<Dispatch::Show>;

constexpr std::uint32_t piece = 1000;  // bytes

class DispatchTest : public ::testing::Test {
protected:
    void begin(std::size_t pieces, DispatchLimits limits = {}) { dispatch = Dispatch{std::vector<std::uint32_t>(pieces, piece), limits}; }
    Shows next(std::uint64_t window) { return dispatch.next(window, now, random); }
    void has(PeerSlot peer, std::uint32_t index) { dispatch.has(peer, {index}, now); }
    // How many were shown to each.
    static std::map<PeerSlot, int> by_peer(const Shows& shows)
    {
        std::map<PeerSlot, int> counted;
        for (const auto& show : shows) ++counted[show.peer];
        return counted;
    }

    Random random{1};
    TimePoint now{1000s};
    Dispatch dispatch{{}, {}};
};

TEST_F(DispatchTest, ALonePeerIsShownAsMuchAsTheWindowHolds)
{
    begin(10);
    dispatch.joined(1, {}, now);
    EXPECT_EQ(next(4 * piece).size(), 4U);
    EXPECT_THAT(next(4 * piece), IsEmpty());
    has(1, 0);
    EXPECT_THAT(next(4 * piece), ElementsAre(Dispatch::Show{1, {4}}));
}

TEST_F(DispatchTest, APieceLargerThanTheWindowIsShownAllTheSame)
{
    begin(2);
    dispatch.joined(1, {}, now);
    EXPECT_EQ(next(piece / 2).size(), 1U);
}

TEST_F(DispatchTest, NoPieceIsShownTwice)
{
    begin(6);
    for (PeerSlot peer = 1; peer <= 3; ++peer) dispatch.joined(peer, {}, now);
    std::map<std::uint32_t, int> times;
    for (int round = 0; round < 6; ++round) {
        for (const auto& show : next(3 * piece)) {
            ++times[show.piece.value];
            dispatch.has(show.peer, show.piece, now);
        }
    }
    EXPECT_EQ(times.size(), 6U);
    for (const auto& [index, count] : times) EXPECT_EQ(count, 1) << index;
    EXPECT_EQ(dispatch.in_flight(), 0U);
    EXPECT_FALSE(dispatch.has_demand());
}

TEST_F(DispatchTest, WhoHasYetToHandOnWhatItGotIsShownLess)
{
    begin(100);
    dispatch.joined(1, {}, now);
    dispatch.joined(2, {}, now);
    for (std::uint32_t index = 50; index < 55; ++index) has(2, index);  // it alone
    EXPECT_EQ(by_peer(next(2 * piece)), (std::map<PeerSlot, int>{{1, 2}}));
    has(1, 0);
    has(1, 1);
    for (std::uint32_t index = 50; index < 55; ++index) has(1, index);  // handed on
    EXPECT_EQ(by_peer(next(2 * piece)), (std::map<PeerSlot, int>{{2, 2}}));
}

TEST_F(DispatchTest, OneOfSeveralIsShownWhatItReceivesInTwoThirdsOfASecond)
{
    begin(1000);
    dispatch.joined(1, {}, now);
    dispatch.joined(2, {}, now);
    for (int round = 0; round < 10; ++round) {  // the first receives a piece each 100 ms, the second ten
        std::map<PeerSlot, int> taken;
        for (const auto& show : next(100 * piece))
            if (taken[show.peer]++ < (show.peer == 1 ? 1 : 10)) dispatch.has(show.peer, show.piece, now);
        now += 100ms;
    }
    (void)next(100 * piece);
    EXPECT_LT(dispatch.shown(1).size(), 10U);
    EXPECT_GT(dispatch.shown(2).size(), dispatch.shown(1).size());
}

TEST_F(DispatchTest, WhatSomebodyHoldsIsLeftToTheSwarm)
{
    begin(4);
    dispatch.joined(1, {}, now);
    for (std::uint32_t index = 0; index < 4; ++index) has(1, index);
    dispatch.joined(2, {}, now);  // late
    EXPECT_THAT(next(100 * piece), IsEmpty());
}

TEST_F(DispatchTest, WhatOnlyOneWhoLeftHeldIsShownAgain)
{
    begin(3);
    dispatch.joined(1, {}, now);
    dispatch.joined(2, {}, now);
    has(1, 0);
    has(1, 1);
    has(2, 1);
    (void)next(2 * piece);
    dispatch.left(1);
    Shows shows = next(100 * piece);
    std::vector<std::uint32_t> pieces;
    for (const auto& show : shows) pieces.push_back(show.piece.value);
    EXPECT_THAT(pieces, ::testing::Contains(0U));
    EXPECT_THAT(pieces, ::testing::Not(::testing::Contains(1U)));
    EXPECT_EQ(dispatch.in_flight(), 2U * piece);
}

TEST_F(DispatchTest, AStalledPeersPiecesGoToAnotherWithinFiveSeconds)
{
    begin(20);
    dispatch.joined(1, {}, now);
    dispatch.joined(2, {}, now);
    std::vector<std::uint32_t> stuck;
    for (const auto& show : next(8 * piece))
        if (show.peer == 1) stuck.push_back(show.piece.value);
    ASSERT_FALSE(stuck.empty());
    std::vector<std::uint32_t> taken;
    for (int second = 0; second < 5; ++second) {
        now += 1s;
        dispatch.sent(2, now);
        for (const auto& show : next(8 * piece)) {
            EXPECT_EQ(show.peer, 2U);
            taken.push_back(show.piece.value);
        }
        for (std::uint32_t index = 0; index < 20; ++index)
            if (std::find(stuck.begin(), stuck.end(), index) == stuck.end()) has(2, index);
    }
    EXPECT_THAT(taken, ::testing::IsSupersetOf(stuck));
}

TEST_F(DispatchTest, NobodyIsStalledByAStoreThatHangs)
{
    begin(20);
    dispatch.joined(1, {}, now);
    dispatch.joined(2, {}, now);
    EXPECT_EQ(next(8 * piece).size(), 4U);
    now += 6s;  // nothing goes to anybody
    EXPECT_THAT(next(8 * piece), IsEmpty());
    now += 3s;  // but not for ever: all may hang
    EXPECT_EQ(next(8 * piece).size(), 0U);
    EXPECT_EQ(dispatch.in_flight(), 0U);
    dispatch.sent(1, now);
    EXPECT_FALSE(next(8 * piece).empty());
}

TEST_F(DispatchTest, WhoIsNotCountedOnToHandOnIsShownNothingWhereAnotherIs)
{
    begin(4);
    dispatch.joined(1, {.spreads = false}, now);
    dispatch.joined(2, {}, now);
    EXPECT_EQ(by_peer(next(100 * piece)), (std::map<PeerSlot, int>{{2, 2}}));
}

TEST_F(DispatchTest, ThoseWhoReachNobodyAreEachShownAll)
{
    begin(3);
    dispatch.joined(1, {.spreads = false}, now);
    dispatch.joined(2, {.spreads = false}, now);
    std::map<PeerSlot, int> counted;
    for (int round = 0; round < 10; ++round) {
        for (const auto& show : next(100 * piece)) {
            ++counted[show.peer];
            dispatch.has(show.peer, show.piece, now);
        }
    }
    EXPECT_EQ(counted, (std::map<PeerSlot, int>{{1, 3}, {2, 3}}));
}

TEST_F(DispatchTest, TheHungryAreShownWhatOthersHold)
{
    begin(3);
    dispatch.joined(1, {}, now);
    for (std::uint32_t index = 0; index < 3; ++index) has(1, index);
    dispatch.joined(2, {}, now);
    dispatch.hungry(2, now);
    EXPECT_EQ(by_peer(next(100 * piece)), (std::map<PeerSlot, int>{{2, 2}}));
    has(2, 0);
    EXPECT_EQ(by_peer(next(100 * piece)), (std::map<PeerSlot, int>{{2, 1}}));
    has(2, 1);
    has(2, 2);
    EXPECT_EQ(dispatch.in_flight(), 0U);
}

// Peer 1 takes piece 0 and keeps it to itself; peers 2 to 4 hand on at once.
class DispatchWithAKeeper : public DispatchTest {
protected:
    void begin_with_keeper()
    {
        begin(100);
        for (PeerSlot peer = 1; peer <= 4; ++peer) dispatch.joined(peer, {}, now);
        has(1, 0);
        for (PeerSlot peer = 2; peer <= 4; ++peer) has(peer, 1);
    }
    // Time passes in which the others get pieces.
    Shows pass(Duration step, std::uint32_t index)
    {
        now += step;
        for (PeerSlot peer = 2; peer <= 4; ++peer) has(peer, index);
        Shows shows = next(1000 * piece);
        for (const auto& show : shows)
            if (show.peer != 1) has(show.peer, show.piece.value);
        return shows;
    }
};

TEST_F(DispatchWithAKeeper, WhatItKeepsIsShownToAnotherAndItIsShownNothingMore)
{
    begin_with_keeper();
    Shows all;
    for (std::uint32_t second = 0; second < 3; ++second) {
        const Shows shows = pass(1s, 50 + second);
        all.insert(all.end(), shows.begin(), shows.end());
    }
    const auto again = std::find_if(all.begin(), all.end(), [](const auto& show) { return show.piece.value == 0; });
    ASSERT_NE(again, all.end());
    EXPECT_NE(again->peer, 1U);
    for (const auto& show : pass(1s, 60)) EXPECT_NE(show.peer, 1U);
}

TEST_F(DispatchWithAKeeper, NobodyIsFoundOutWithinTwoSecondsOrWhileNobodyTakesAnything)
{
    begin_with_keeper();
    for (const auto& show : pass(1900ms, 50)) EXPECT_NE(show.piece.value, 0U);
    now += 4s;
    for (const auto& show : next(100 * piece)) EXPECT_NE(show.piece.value, 0U);
}

TEST_F(DispatchTest, TheHungryIsShownWhatIsLateAtAnotherAndNoThirdIs)
{
    begin(1);
    for (PeerSlot peer = 1; peer <= 3; ++peer) dispatch.joined(peer, {}, now);
    ASSERT_EQ(next(8 * piece).size(), 1U);
    const auto all_are_hungry = [&] {
        for (PeerSlot peer = 1; peer <= 3; ++peer) dispatch.hungry(peer, now);
    };
    all_are_hungry();
    EXPECT_THAT(next(8 * piece), IsEmpty());
    now += 1100ms;
    all_are_hungry();
    EXPECT_EQ(next(8 * piece).size(), 1U);
}

TEST_F(DispatchTest, AKeeperOfWhatNobodyElseWantsIsCountedOn)
{
    begin(100);
    for (PeerSlot peer = 1; peer <= 3; ++peer) dispatch.joined(peer, {}, now);
    std::vector<bool> all_but_the_first(100, true);
    all_but_the_first[0] = false;
    for (PeerSlot peer : {2U, 3U}) dispatch.wants(peer, all_but_the_first);
    has(1, 0);
    now += 3s;
    has(2, 1);
    has(3, 1);
    EXPECT_EQ(by_peer(next(100 * piece)).count(1), 1U);
}

TEST_F(DispatchTest, WhatIsLateAtOneIsShownToAnotherOnceNothingElseIsLeft)
{
    begin(2, {.extra_bytes = piece});
    dispatch.joined(1, {}, now);
    ASSERT_EQ(next(8 * piece).size(), 2U);
    dispatch.joined(2, {}, now);
    now += 900ms;
    dispatch.sent(1, now);
    EXPECT_THAT(next(8 * piece), IsEmpty());
    now += 200ms;
    EXPECT_EQ(by_peer(next(8 * piece)), (std::map<PeerSlot, int>{{2, 1}}));
}

TEST_F(DispatchTest, ManyWhoAreHungryAreNotShownTheSamePiece)
{
    begin(2);
    for (PeerSlot peer = 1; peer <= 3; ++peer) dispatch.joined(peer, {}, now);
    for (PeerSlot peer : {2U, 3U}) dispatch.hungry(peer, now);
    has(1, 0);
    has(1, 1);
    const Shows shows = next(8 * piece);
    ASSERT_EQ(shows.size(), 2U);
    EXPECT_NE(shows[0].piece, shows[1].piece);
}

TEST_F(DispatchTest, OnlyWhatAPeerWantsIsShown)
{
    begin(6);
    dispatch.joined(1, {}, now);
    dispatch.wants(1, {false, false, true, false, true, false});
    EXPECT_THAT(next(100 * piece), ElementsAre(Dispatch::Show{1, {2}}, Dispatch::Show{1, {4}}));
    dispatch.joined(2, {}, now);
    std::vector<std::uint32_t> others;
    for (int round = 0; round < 4; ++round) {
        for (const auto& show : next(100 * piece)) {
            others.push_back(show.piece.value);
            dispatch.has(show.peer, show.piece, now);
        }
    }
    EXPECT_THAT(others, ::testing::UnorderedElementsAre(0U, 1U, 3U, 5U));
}

TEST_F(DispatchTest, WhatAPeerWasShownBeforeItSaidThatItDoesNotWantItGoesToAnotherAtOnce)
{
    begin(4);
    dispatch.joined(1, {}, now);
    ASSERT_EQ(next(100 * piece).size(), 4U);
    dispatch.joined(2, {}, now);
    dispatch.wants(1, {true, false, false, false});
    EXPECT_EQ(dispatch.in_flight(), 1U * piece);
    EXPECT_EQ(by_peer(next(100 * piece)).count(2), 1U);
}

TEST_F(DispatchTest, OnlyItsOwnShareOfThePiecesIsASeedersToShow)
{
    begin(4);
    dispatch.assign({true, false, true, false});
    dispatch.joined(1, {}, now);
    EXPECT_THAT(next(100 * piece), ElementsAre(Dispatch::Show{1, {0}}, Dispatch::Show{1, {2}}));
    dispatch.assign({true, true, true, true});  // the other seeder is gone
    EXPECT_THAT(next(100 * piece), ElementsAre(Dispatch::Show{1, {1}}, Dispatch::Show{1, {3}}));
}

TEST_F(DispatchTest, WithNothingElseToDoTheBusiestIsHelpedOutOfABudget)
{
    begin(4, {.extra_bytes = 2 * piece});
    dispatch.joined(1, {}, now);
    EXPECT_EQ(next(100 * piece).size(), 4U);
    dispatch.joined(2, {}, now);
    for (std::uint32_t index = 0; index < 4; ++index) has(1, index);
    EXPECT_EQ(by_peer(next(100 * piece)), (std::map<PeerSlot, int>{{2, 2}}));
    EXPECT_EQ(dispatch.extra_shown(), 2U * piece);
    EXPECT_THAT(next(100 * piece), IsEmpty());
}

TEST_F(DispatchTest, WhoIsAbroadIsShownNothingWhileAnybodyIsAtHomeUnlessItIsHungry)
{
    begin(100);
    dispatch.joined(1, {.abroad = true}, now);
    EXPECT_EQ(by_peer(next(2 * piece)), (std::map<PeerSlot, int>{{1, 2}}));
    dispatch.joined(2, {}, now);
    has(1, 0);
    has(1, 1);
    EXPECT_EQ(by_peer(next(2 * piece)), (std::map<PeerSlot, int>{{2, 2}}));
    dispatch.hungry(1, now);
    EXPECT_EQ(by_peer(next(6 * piece)).count(1), 1U);
    dispatch.left(2);
    dispatch.joined(3, {.abroad = true}, now);
    EXPECT_EQ(by_peer(next(10 * piece)).count(3), 1U);
}

TEST_F(DispatchTest, C29_WhoComesAfterAPieceWasShownIsNotHelpedOutWithIt)
{
    begin(4, {.extra_bytes = 4 * piece});
    dispatch.joined(1, {}, now);
    (void)next(100 * piece);
    for (std::uint32_t index = 0; index < 4; ++index) has(1, index);
    now += 1ms;
    dispatch.joined(2, {}, now);
    EXPECT_THAT(next(100 * piece), IsEmpty());
}

TEST_F(DispatchTest, WithMoreCopiesAllowedTheRarestAreShownAgainOnceNothingIsNew)
{
    begin(4);
    dispatch.allow_copies(2);
    dispatch.joined(1, {}, now);
    EXPECT_EQ(next(100 * piece).size(), 4U);
    EXPECT_THAT(next(100 * piece), IsEmpty());  // all are on their way
    for (std::uint32_t index = 0; index < 4; ++index) has(1, index);
    for (const PeerSlot slot : {2U, 3U}) dispatch.joined(slot, {}, now);
    for (std::uint32_t index = 0; index < 2; ++index) has(2, index);
    const auto again = next(2 * piece);
    ASSERT_EQ(again.size(), 2U);
    for (const auto& show : again) {
        EXPECT_GE(show.piece.value, 2U);
        has(show.peer, show.piece.value);
    }
    EXPECT_EQ(next(100 * piece).size(), 2U);
    EXPECT_EQ(dispatch.extra_shown(), 4U * piece);
    dispatch.joined(4, {}, now);
    EXPECT_THAT(next(100 * piece), IsEmpty());  // two copies have left
}

TEST_F(DispatchTest, WhatOnlyAStalledPeerLacksHoldsNoFurtherCopyUp)
{
    begin(2);
    dispatch.allow_copies(2);
    for (const PeerSlot slot : {1U, 2U}) dispatch.joined(slot, {}, now);
    dispatch.wants(2, {true, false});
    EXPECT_EQ(next(100 * piece).size(), 2U);
    now += 10s;
    (void)next(0);  // neither takes anything
    for (std::uint32_t index = 0; index < 2; ++index) has(1, index);
    dispatch.joined(3, {}, now);
    has(3, 0);
    EXPECT_EQ(by_peer(next(100 * piece)), (std::map<PeerSlot, int>{{3, 1}}));
}

TEST_F(DispatchTest, WhoStalledAndIsHungryIsTriedWithOnePieceAtATime)
{
    begin(100);
    for (const PeerSlot slot : {1U, 2U}) dispatch.joined(slot, {}, now);
    (void)next(4 * piece);
    for (int second = 0; second < 4; ++second) {
        now += 1s;
        dispatch.sent(2, now);
        (void)next(4 * piece);
    }
    for (const std::uint32_t index : dispatch.shown(2)) has(2, index);
    EXPECT_EQ(by_peer(next(4 * piece)).count(1), 0U);
    for (const std::uint32_t index : dispatch.shown(2)) has(2, index);
    dispatch.hungry(1, now);
    (void)next(4 * piece);
    EXPECT_EQ(dispatch.shown(1).size(), 1U);
    now += 3s;
    dispatch.sent(2, now);
    (void)next(0);
    EXPECT_TRUE(dispatch.shown(1).empty());
}

TEST_F(DispatchTest, OfTwoCopiesASeederShowsItsPartTwice)
{
    begin(4);
    dispatch.assign({true, true, false, false});
    dispatch.allow_copies(2);
    dispatch.joined(1, {}, now);
    EXPECT_EQ(next(100 * piece).size(), 2U);
    for (std::uint32_t index = 0; index < 4; ++index) has(1, index);
    dispatch.joined(2, {}, now);
    EXPECT_EQ(next(100 * piece).size(), 2U);
    EXPECT_THAT(next(100 * piece), IsEmpty());
}

TEST_F(DispatchTest, WhateverAPeerSaysIsNoHarm)
{
    begin(2);
    has(7, 0);
    dispatch.left(7);
    dispatch.sent(7, now);
    dispatch.hungry(7, now);
    dispatch.joined(1, {}, now);
    has(1, 99);
    has(1, 0);
    has(1, 0);
    dispatch.lost(1, {0});
    dispatch.lost(1, {0});
    dispatch.wants(1, {true});  // of another length
    EXPECT_EQ(next(100 * piece).size(), 2U);
    dispatch.left(1);
    EXPECT_EQ(dispatch.in_flight(), 0U);
}

}  // namespace
}  // namespace shoal::policy
