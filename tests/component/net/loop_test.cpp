#include "tests/component/net/loopback.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

namespace shoal::net {
namespace {

using namespace std::chrono_literals;
using test::run_until;

TEST(Loop, RunsWhatOtherThreadsPost)
{
    Loop loop;
    int count = 0;
    std::thread other{[&] {
        for (int i = 0; i < 1000; ++i) loop.post([&] { ++count; });
        loop.post([&] { loop.stop(); });
    }};
    loop.run();
    other.join();
    EXPECT_EQ(count, 1000);
}

TEST(Loop, ATimerWhoseHandleIsGoneDoesNotFire)
{
    Loop loop;
    bool fired = false;
    Handle once = loop.after(1ms, [&] { fired = true; });
    Handle often = loop.every(1ms, [&] { fired = true; });
    once.reset();
    often.reset();
    const Handle end = loop.after(20ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(fired);
}

TEST(Loop, ATimerMayDropItsOwnHandle)
{
    Loop loop;
    int count = 0;
    Handle often;
    often = loop.every(1ms, [&] {
        if (++count == 3) often.reset();
    });
    const Handle end = loop.after(50ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(count, 3);
}

TEST(Loop, HandsOverSignals)
{
    Loop loop;
    std::vector<int> signals;
    const Handle handle = loop.on_signals([&](int signal) { signals.push_back(signal); });
    ::raise(SIGTERM);
    ASSERT_TRUE(run_until(loop, [&] { return signals.size() == 1; }));
    ::raise(SIGINT);
    ASSERT_TRUE(run_until(loop, [&] { return signals.size() == 2; }));
    EXPECT_EQ(signals, (std::vector{SIGTERM, SIGINT}));
}

TEST(Workers, WorkElsewhereAndTellOnTheLoop)
{
    Loop loop;
    Workers workers{loop, 2};
    std::atomic<int> worked = 0;
    int told = 0;
    const auto loop_thread = std::this_thread::get_id();
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(workers.run(
            [&] { worked += std::this_thread::get_id() != loop_thread ? 1 : 0; }, [&] { told += std::this_thread::get_id() == loop_thread ? 1 : 0; }));
    }
    EXPECT_TRUE(run_until(loop, [&] { return told == 100; }));
    EXPECT_EQ(worked, 100);
}

TEST(Workers, RefuseMoreThanTheQueueHolds)
{
    Loop loop;
    std::promise<void> gate;
    const std::shared_future<void> open = gate.get_future().share();
    std::promise<void> started;
    Workers workers{loop, 1};
    ASSERT_TRUE(workers.run(
        [&] {
            started.set_value();
            open.wait();
        },
        {}));
    started.get_future().wait();
    for (std::size_t i = 0; i < Workers::most_queued; ++i) ASSERT_TRUE(workers.run([] {}, {}));
    EXPECT_FALSE(workers.run([] {}, {}));
    gate.set_value();
}

TEST(Workers, TellNothingAfterTheirEnd_AndDropWhatWaits)
{
    Loop loop;
    bool told = false;
    std::atomic<int> worked = 0;
    std::promise<void> started;
    std::promise<void> gate;
    {
        Workers workers{loop, 1};
        ASSERT_TRUE(workers.run(
            [&] {
                started.set_value();
                gate.get_future().wait();
                ++worked;
            },
            [&] { told = true; }));
        ASSERT_TRUE(workers.run([&] { ++worked; }, [&] { told = true; }));
        started.get_future().wait();
        std::thread opener{[&] { gate.set_value(); }};
        opener.join();
    }
    const Handle end = loop.after(20ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_GE(worked, 1);
    EXPECT_FALSE(told);
}

}  // namespace
}  // namespace shoal::net
