// Beats to trackers: when, to whom, and what becomes of the answers.
#include "tests/component/control/client_bench.hpp"

namespace shoal::control {
namespace {

using namespace std::chrono_literals;
using net::test::run_until;
using testing::HasSubstr;

TEST_F(ClientTest, BeatsAtOnceAndThenAsTheTrackerSays)
{
    Tracker tracker{loop};
    have(1, 10);
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 4; }));
    EXPECT_TRUE(tracker.beats[0].full);
    EXPECT_FALSE(tracker.beats[1].full);
    EXPECT_TRUE(tracker.beats[1].holdings.empty());
    EXPECT_EQ(tracker.beats[3].sequence, 4U);
    EXPECT_TRUE(client->trackers()[0].answered);
    EXPECT_EQ(tracker.holdings, state);
}

TEST_F(ClientTest, TellsAChangeAtOnce_AndNotMoreThanTenTimesASecond)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 60'000;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 1; }));
    const TimePoint begin = Clock::now();
    std::uint64_t bytes = 0;
    const net::Handle changes = loop.every(1ms, [&] {
        have(1, ++bytes);
        client->beat_now();
    });
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 6; }));
    EXPECT_GE(Clock::now() - begin, 400ms);
    EXPECT_GT(tracker.holdings.at(revision(1)).bytes_have, 100U);
}

TEST_F(ClientTest, C35_TellsARestartedTrackerAllAtOnce)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 2000;
    have(1, 1);
    have(2, 2);
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 1; }));
    tracker.restart();
    have(3, 3);
    ASSERT_TRUE(run_until(loop, [&] { return tracker.holdings == state; }));
    ASSERT_GE(tracker.beats.size(), 3U);
    EXPECT_FALSE(tracker.beats[1].full);  // this one it could not take
    EXPECT_TRUE(tracker.beats[2].full);
    EXPECT_LT(tracker.heard[2] - tracker.heard[1], 1s);
}

TEST_F(ClientTest, BeatsToEveryTracker)
{
    Tracker first{loop};
    Tracker second{loop};
    have(1, 1);
    start({first.url(), second.url()});
    ASSERT_TRUE(run_until(loop, [&] { return first.holdings == state && second.holdings == state; }));
    state.clear();
    have(2, 1);
    EXPECT_TRUE(run_until(loop, [&] { return first.holdings == state && second.holdings == state && replies_of(first) >= 2 && replies_of(second) >= 2; }));
}

TEST_F(ClientTest, CountsATrackerWithTwoAddressesOnce_AndUsesTheOtherWhenOneDies)
{
    Tracker tracker{loop};
    auto twin = std::make_unique<Tracker>(loop);  // the same tracker behind another address
    twin->reply.tracker = tracker.reply.tracker;
    tracker.reply.beat_ms = twin->reply.beat_ms = 200;
    start({tracker.url(), twin->url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() + twin->beats.size() == 12; }));
    const auto [fewer, more] = std::minmax({tracker.beats.size(), twin->beats.size()});
    EXPECT_LE(fewer, 4U);  // its first, and now and then one that looks whether it is still the same
    EXPECT_GE(more, 8U);
    if (twin->beats.size() > tracker.beats.size()) {
        twin.reset();
        const std::size_t before = tracker.beats.size();
        EXPECT_TRUE(run_until(loop, [&] { return tracker.beats.size() > before + 3; }));
    } else {
        tracker.status = 500;
        const std::size_t before = twin->beats.size();
        EXPECT_TRUE(run_until(loop, [&] { return twin->beats.size() > before + 3; }));
    }
}

TEST_F(ClientTest, TellsATrackerAllAgainWhenAnotherAddressTurnsOutToBeIt)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 60'000;
    tracker.alias_status = 503;
    have(1, 1);
    start({tracker.url(), tracker.alias()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.refused == 2 && replies.size() == 1; }));
    tracker.alias_status = 200;  // the next beat there has a greater number than the next by the first address
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 2; }));
    ASSERT_GT(tracker.sequence, 2U);
    have(2, 2);
    client->beat_now();
    EXPECT_TRUE(run_until(loop, [&] { return tracker.holdings == state; }));
}

TEST_F(ClientTest, NoticesThatASecondAddressHasBecomeAnotherTracker)
{
    Tracker tracker{loop};
    Tracker twin{loop};
    twin.reply.tracker = tracker.reply.tracker;
    tracker.reply.beat_ms = twin.reply.beat_ms = 200;
    have(1, 1);
    start({tracker.url(), twin.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() + twin.beats.size() >= 4; }));
    twin.restart();
    ASSERT_TRUE(run_until(loop, [&] { return twin.holdings == state && tracker.holdings == state && replies_of(twin) >= 3 && replies_of(tracker) >= 3; }));
}

TEST_F(ClientTest, HoldsOneBeatWhileItIsToldTo_AndHearsNewsAtOnce)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 5000;
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));
    EXPECT_LE(tracker.beats[0].wait_ms, 5000U);
    const TimePoint begin = Clock::now();
    tracker.reply.wishes = {{revision(9), "llama"}};
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return !replies.empty() && !replies.back().wishes.empty(); }));
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));  // and the next is there
    EXPECT_LT(Clock::now() - begin, 3s);
}

TEST_F(ClientTest, TellsNewsWhileABeatIsHeld_AndLosesNoAnswer)
{
    Tracker tracker{loop};
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 1; }));
    tracker.reply.beat_ms = 5000;
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1 && tracker.beats.back().wait_ms == 5000; }));
    const std::size_t before = replies.size();
    have(1, 1);
    client->beat_now();
    EXPECT_TRUE(run_until(loop, [&] { return tracker.holdings == state && replies.size() > before; }));
    EXPECT_EQ(tracker.held.size(), 1U);
}

TEST_F(ClientTest, GoesOnAtOnceWhenALaterBeatIsAnsweredFirst)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 5000;
    tracker.crosses = true;
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));
    have(1, 1);
    client->beat_now();
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 1; }));
    const TimePoint begin = Clock::now();
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 3; }));
    EXPECT_LT(Clock::now() - begin, 3s);
    EXPECT_EQ(replies.size(), 1U);  // what the old answer says is old
}

TEST_F(ClientTest, DoesNotStormATrackerThatAnswersWithoutHolding)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 500;
    holds = true;
    start({tracker.url()});
    const net::Handle release = loop.every(1ms, [&] { tracker.tell_news(); });
    bool later = false;
    const net::Handle end = loop.after(2s, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_LE(tracker.beats.size(), 9U);
}

TEST_F(ClientTest, ShowsARefusalAndGoesOnBeating)
{
    Tracker tracker{loop};
    tracker.reply.refusal = "a second process with this peer id";
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 3; }));
    EXPECT_FALSE(client->trackers()[0].answered);
    EXPECT_EQ(client->trackers()[0].cause, tracker.reply.refusal);
    EXPECT_TRUE(tracker.beats[2].full);
    EXPECT_EQ(replies.back().refusal, tracker.reply.refusal);
}

TEST_F(ClientTest, C39_NamesBothVersionsOfATrackerThatItDoesNotUnderstand)
{
    Tracker tracker{loop};
    tracker.reply.version = 7;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return !client->trackers().empty() && !client->trackers()[0].cause.empty(); }));
    EXPECT_THAT(client->trackers()[0].cause, testing::AllOf(HasSubstr("version 7"), HasSubstr("this program 1")));
    EXPECT_TRUE(replies.empty());
}

TEST_F(ClientTest, TriesAgainWhatFails_WithoutAStorm)
{
    Tracker tracker{loop};
    tracker.status = 503;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return !client->trackers().empty() && !client->trackers()[0].cause.empty(); }));
    EXPECT_THAT(client->trackers()[0].cause, HasSubstr("503"));
    const net::Handle push = loop.every(1ms, [&] { client->beat_now(); });
    tracker.status = 200;
    const TimePoint begin = Clock::now();
    ASSERT_TRUE(run_until(loop, [&] { return client->trackers()[0].answered; }));
    EXPECT_GE(Clock::now() - begin, 200ms);
}

TEST_F(ClientTest, AfterABeatThatFailedTellsAll_AndThenNewsAtOnceAsBefore)
{
    Tracker tracker{loop};
    have(1, 1);
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 2; }));
    EXPECT_FALSE(tracker.beats[1].full);
    tracker.status = 503;
    ASSERT_TRUE(run_until(loop, [&] { return tracker.refused == 1; }));
    tracker.status = 200;
    tracker.reply.beat_ms = 60'000;
    const std::size_t before = replies.size();
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() > before; }));
    EXPECT_TRUE(tracker.beats.back().full);
    have(2, 2);
    client->beat_now();
    EXPECT_TRUE(run_until(loop, [&] { return tracker.holdings == state; }));
}

TEST_F(ClientTest, LeavesWithALastBeat_AndWaitsForADeadTrackerOneSecondAtMost)
{
    Tracker tracker{loop};
    const net::test::RawServer hole;
    start({tracker.url(), "http://127.0.0.1:" + std::to_string(hole.port())});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 2; }));
    const TimePoint begin = Clock::now();
    bool left = false;
    client->leave([&] { left = true; });
    ASSERT_TRUE(run_until(loop, [&] { return left; }));
    EXPECT_LT(Clock::now() - begin, 3s);
    EXPECT_TRUE(tracker.beats.back().leaving);
    const std::size_t beats = tracker.beats.size();
    client->beat_now();
    bool later = false;
    const net::Handle end = loop.after(500ms, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_EQ(tracker.beats.size(), beats);
}

TEST_F(ClientTest, LeavesAtOnceWhereNobodyIs)
{
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://" + net::test::no_name}, *this);
    bool left = false;
    client->leave([&] { left = true; });
    EXPECT_TRUE(run_until(loop, [&] { return left; }));
}

TEST_F(ClientTest, MayBeDestroyedWithEverythingUnderWay)
{
    Tracker tracker{loop};
    const net::test::RawServer hole;
    holds = true;
    bool called = false;
    start({tracker.url(), "http://127.0.0.1:" + std::to_string(hole.port()), "http://localhost:1"});
    client->get({"/x", 100, 10s, accept}, [&](const auto&) { called = true; });
    ASSERT_TRUE(run_until(loop, [&] { return !tracker.held.empty(); }));
    client.reset();
    bool later = false;
    const net::Handle end = loop.after(100ms, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_FALSE(called);
}

}  // namespace
}  // namespace shoal::control
