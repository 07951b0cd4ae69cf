// The one thread that owns a program's state: events, timers, signals. post() and stop() from any thread, the rest from the loop itself.
#pragma once

#include "common/core/clock.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace shoal::net {

// Cancels what it stands for when destroyed. Empty: nothing. From the loop's thread only.
using Handle = std::shared_ptr<void>;

class Loop {
public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void run();  // until stop()
    void stop();
    void post(std::function<void()> work);                                    // any thread
    [[nodiscard]] Handle after(Duration delay, std::function<void()> work);   // once
    [[nodiscard]] Handle every(Duration period, std::function<void()> work);  // again and again
    [[nodiscard]] Handle on_signals(std::function<void(int signal)> work);    // SIGTERM, SIGINT

    struct Impl;  // Asio's, for common/net only
    [[nodiscard]] Impl& impl() { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

// Threads for slow work: it runs there, its end comes back to the loop as `done`. run() refuses (false) when the queue is full.
// The destructor waits for the jobs that run, and drops those that wait; a `done` never runs after it.
class Workers {
public:
    static constexpr std::size_t most_queued = 1024;

    Workers(Loop& loop, unsigned threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    bool run(std::function<void()> job, std::function<void()> done);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::net
