#include "common/control/told.hpp"

#include "common/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace shoal::control {
namespace {

RevisionId revision(unsigned n)
{
    RevisionId id;
    id.bytes[0] = static_cast<std::uint8_t>(n);
    return id;
}

PeerId peer(unsigned n)
{
    PeerId id;
    id.bytes[0] = static_cast<std::uint8_t>(n);
    return id;
}

wire::Holding holding(unsigned n, std::uint64_t have)
{
    wire::Holding one;
    one.revision = revision(n);
    one.bytes_have = have;
    return one;
}

wire::Beat state(std::vector<wire::Holding> holdings)
{
    wire::Beat beat;
    beat.holdings = std::move(holdings);
    return beat;
}

TEST(Told, SaysAllFirst_ThenOnlyWhatHasChangedOrGone)
{
    Told told;
    const auto first = told.next(state({holding(1, 10), holding(2, 20)}));
    EXPECT_TRUE(first.full);
    EXPECT_EQ(first.sequence, 1U);
    EXPECT_EQ(first.holdings.size(), 2U);
    told.answered(1, false);
    const auto second = told.next(state({holding(1, 11), holding(3, 0)}));
    EXPECT_FALSE(second.full);
    EXPECT_EQ(second.holdings, (std::vector{holding(1, 11), holding(3, 0)}));
    EXPECT_EQ(second.dropped, std::vector{revision(2)});
    told.answered(2, false);
    const auto third = told.next(state({holding(1, 11), holding(3, 0)}));
    EXPECT_TRUE(third.holdings.empty());
    EXPECT_TRUE(third.dropped.empty());
}

TEST(Told, SaysAllAgainWhenAsked_AfterAFailure_AndEveryTwentyBeats)
{
    Told told;
    told.next(state({holding(1, 1)}));
    told.answered(1, true);
    EXPECT_TRUE(told.next(state({holding(1, 1)})).full);
    told.answered(2, false);
    EXPECT_FALSE(told.next(state({holding(1, 1)})).full);
    told.failed(3);
    std::uint64_t last_full = 0;
    for (std::uint64_t sequence = 4; sequence <= 64; ++sequence) {
        const auto beat = told.next(state({holding(1, 1)}));
        ASSERT_EQ(beat.sequence, sequence);
        if (beat.full) {
            EXPECT_TRUE(last_full == 0 || sequence - last_full == Told::full_every) << sequence;
            last_full = sequence;
        }
        told.answered(sequence, false);
    }
    EXPECT_EQ(last_full, 64U);
}

TEST(Told, TellsBytesReceivedSinceTheLastAnswer_AlsoWhenTotalsStartAnew)
{
    Told told;
    const auto next = [&told](std::uint64_t total) {
        wire::Beat beat;
        beat.received = {{peer(1), total}};
        const auto received = told.next(beat).received;
        return received.empty() ? 0 : received[0].bytes;
    };
    EXPECT_EQ(next(100), 100U);
    told.answered(1, false);
    EXPECT_EQ(next(150), 50U);
    EXPECT_EQ(next(170), 70U);  // the one before has not been answered
    told.answered(3, false);
    EXPECT_EQ(next(170), 0U);
    told.answered(4, false);
    EXPECT_EQ(next(30), 30U);
}

// What each of two trackers hears of bytes received, from the same totals, whatever becomes of beats to the other.
TEST(Told, EveryTrackerHearsOfAllThatWasReceived_Once)
{
    Told one;
    Told other;
    std::uint64_t total = 0;
    std::uint64_t heard_by_one = 0;
    std::uint64_t heard_by_other = 0;
    const auto beat = [&total](Told& told) {
        wire::Beat whole;
        whole.received = {{peer(1), total}};
        return told.next(whole);
    };
    const auto bytes_in = [](const wire::Beat& sent) { return sent.received.empty() ? 0 : sent.received[0].bytes; };
    for (std::uint64_t round = 1; round <= 50; ++round) {
        total += round % 3 == 0 ? 0 : 100 - round;
        const auto to_one = beat(one);
        heard_by_one += bytes_in(to_one);
        one.answered(to_one.sequence, false);
        const auto to_other = beat(other);
        switch (round % 4) {
        case 1: other.failed(to_other.sequence); break;          // it was lost
        case 2: other.answered(to_other.sequence, true); break;  // one that lacks the base takes nothing
        default:
            heard_by_other += bytes_in(to_other);
            other.answered(to_other.sequence, false);
            break;
        }
    }
    const auto last = beat(other);
    EXPECT_EQ(heard_by_one, total);
    EXPECT_EQ(heard_by_other + bytes_in(last), total);
}

TEST(Told, CountsOnAboveWhatTheTrackerHasHeardByOthers_WithAFullReport)
{
    Told told{30};
    EXPECT_EQ(told.next(state({holding(1, 1)})).sequence, 31U);
    told.answered(31, false);
    told.follow(40);
    const auto next = told.next(state({holding(1, 1)}));
    EXPECT_EQ(next.sequence, 41U);
    EXPECT_TRUE(next.full);
    told.answered(41, false);
    told.follow(7);
    EXPECT_EQ(told.next(state({holding(1, 1)})).sequence, 42U);
}

TEST(Told, IgnoresAnAnswerThatALaterOneOvertook)
{
    Told told;
    told.next(state({holding(1, 1)}));
    told.next(state({holding(1, 2)}));
    EXPECT_TRUE(told.answered(2, false));
    EXPECT_FALSE(told.answered(1, true));
    EXPECT_TRUE(told.next(state({holding(1, 2)})).holdings.empty());
}

std::vector<wire::Holding> more_than_a_beat_has()
{
    std::vector<wire::Holding> many(Told::most_holdings + 10);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i].revision.bytes[0] = static_cast<std::uint8_t>(i);
        many[i].revision.bytes[1] = static_cast<std::uint8_t>(i >> 8U);
    }
    return many;
}

TEST(Told, SpreadsMoreHoldingsThanABeatMayHaveOverSeveral)
{
    const auto many = more_than_a_beat_has();
    Told told;
    EXPECT_EQ(told.next(state(many)).holdings.size(), Told::most_holdings);
    told.answered(1, false);
    EXPECT_EQ(told.next(state(many)).holdings.size(), 10U);
}

TEST(Told, MoreHoldingsThanABeatMayHaveAreNeverToldAsAllThereAre)
{
    Told told;
    const auto all = state(more_than_a_beat_has());
    for (std::uint64_t beat = 1; beat <= Told::full_every + 1; ++beat) {
        EXPECT_EQ(told.next(all).full, beat == 1);
        told.answered(beat, false);
    }
}

TEST(Told, SpreadsMoreDroppedOnesThanABeatMayHaveOverSeveral)
{
    Told told;
    for (const std::uint64_t beat : {1U, 2U}) {
        told.next(state(more_than_a_beat_has()));
        told.answered(beat, false);
    }
    EXPECT_EQ(told.next(state({})).dropped.size(), Told::most_holdings);
    told.answered(3, false);
    EXPECT_EQ(told.next(state({})).dropped.size(), 10U);
}

TEST(Told, AFailureThatALaterAnswerOvertookChangesNothing)
{
    Told told;
    told.next(state({holding(1, 1)}));
    told.next(state({holding(1, 1)}));
    told.answered(2, false);
    told.failed(1);
    EXPECT_FALSE(told.next(state({holding(1, 1)})).full);
}

TEST(Told, WhileAFullBeatIsUnansweredTheNextIsFullToo)
{
    Told told;
    told.next(state({holding(1, 1)}));
    told.answered(1, false);
    for (std::uint64_t beat = 2; beat <= Told::full_every; ++beat) {
        told.next(state({holding(1, 1)}));
        told.answered(beat, false);
    }
    EXPECT_TRUE(told.next(state({holding(1, 1)})).full);
    EXPECT_TRUE(told.next(state({holding(1, 1)})).full);
    EXPECT_TRUE(told.next(state(more_than_a_beat_has())).full);  // also where it cannot name all
}

TEST(Told, NamesAgainWhatAnUnansweredBeatNamed)
{
    Told told;
    told.next(state({holding(1, 1)}));
    told.answered(1, false);
    told.next(state({holding(1, 2), holding(2, 1)}));
    const auto back = told.next(state({holding(1, 1)}));  // the tracker may have heard of both
    EXPECT_EQ(back.holdings, std::vector{holding(1, 1)});
    EXPECT_EQ(back.dropped, std::vector{revision(2)});
}

TEST(Told, CutsLongTroublesAndNamesAsManyGiversAsABeatMayHave)
{
    wire::Beat whole = state({holding(1, 1)});
    whole.holdings[0].trouble = std::string(5000, 'x');
    for (unsigned i = 0; i < 5000; ++i) {
        PeerId from = peer(i);
        from.bytes[1] = static_cast<std::uint8_t>(i >> 8U);
        whole.received.push_back({from, 1});
    }
    const auto beat = Told{}.next(whole);
    EXPECT_EQ(beat.holdings[0].trouble.size(), 1024U);
    EXPECT_EQ(beat.received.size(), 4096U);
}

// A tracker as the protocol describes it.
struct Listener {
    std::map<RevisionId, wire::Holding> holdings;
    std::uint64_t sequence = 0;
    bool knows = false;

    // Whether it wants all.
    bool take(const wire::Beat& beat)
    {
        if (knows && beat.sequence < sequence) return false;  // overtaken
        if (!beat.full && (!knows || beat.sequence > sequence + 1)) return true;
        if (beat.full) holdings.clear();
        for (const auto& one : beat.holdings) holdings.insert_or_assign(one.revision, one);
        for (const auto& gone : beat.dropped) holdings.erase(gone);
        knows = true;
        sequence = beat.sequence;
        return false;
    }
};

class AnyHistory : public testing::TestWithParam<std::uint64_t> {};

// Random changes; beats that are lost, that are taken and whose answers are lost, that overlap; trackers that restart: after two beats that are answered in
// order the tracker's picture is the state.
TEST_P(AnyHistory, LeavesTheTrackerWithTheWholeState)
{
    Random random{GetParam()};
    const auto dice = [&random](unsigned sides) { return std::uniform_int_distribution<unsigned>{0, sides - 1}(random); };
    Told told;
    Listener tracker;
    std::map<RevisionId, wire::Holding> truth;
    const auto change = [&] {
        const unsigned n = dice(8);
        if (dice(3) == 0)
            truth.erase(revision(n));
        else
            truth.insert_or_assign(revision(n), holding(n, dice(3)));
    };
    const auto whole = [&] {
        std::vector<wire::Holding> all;
        for (const auto& [id, one] : truth) all.push_back(one);
        return state(all);
    };
    struct Pending {
        std::uint64_t sequence;
        bool need_full;
    };
    std::vector<Pending> pending;  // taken, not answered
    for (int step = 0; step < 500; ++step) {
        change();
        if (dice(40) == 0) tracker = {};
        const auto beat = told.next(whole());
        switch (dice(4)) {
        case 0: told.failed(beat.sequence); break;  // lost
        case 1:                                     // taken, its answer lost
            tracker.take(beat);
            told.failed(beat.sequence);
            break;
        default: pending.push_back({beat.sequence, tracker.take(beat)}); break;  // its answer is on its way
        }
        while (pending.size() > dice(3)) {
            const auto at = static_cast<std::ptrdiff_t>(dice(static_cast<unsigned>(pending.size())));
            told.answered(pending[static_cast<std::size_t>(at)].sequence, pending[static_cast<std::size_t>(at)].need_full);
            pending.erase(pending.begin() + at);
        }
    }
    for (int calm = 0; calm < 2; ++calm) {
        const auto beat = told.next(whole());
        told.answered(beat.sequence, tracker.take(beat));
    }
    EXPECT_EQ(tracker.holdings, truth) << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Told, AnyHistory, testing::Range<std::uint64_t>(0, 100));

}  // namespace
}  // namespace shoal::control
