// Threads that share out numbered work, while the caller waits and looks on. One run at a time, from one thread.
#pragma once

#include "common/core/result.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace shoal::seeder {

class Crew {
public:
    using Work = std::function<Result<void>(std::size_t index)>;

    // `tick` is called on the caller's thread ten times a second during run(); false ends it. `ended` is called once when a run ends early, to wake who waits.
    Crew(unsigned threads, std::function<bool()> tick, std::function<void()> ended = {});

    // work(0) to work(count - 1), begun in this order, on as many threads as the crew has, or `waiting` if those are more: of work that waits for a network.
    // The first failure ends the rest; a tick that said no is interrupted.
    Result<void> run(std::size_t count, const Work& work, unsigned waiting = 0);

    [[nodiscard]] unsigned threads() const { return threads_; }
    [[nodiscard]] bool ending() const { return ending_; }  // long work asks, and fails with given_up()
    [[nodiscard]] static Error given_up();

    void count(std::uint64_t bytes) const { counted_ += bytes; }  // work that was done, for the tick to show
    [[nodiscard]] std::uint64_t counted() const { return counted_; }

private:
    unsigned threads_;
    std::function<bool()> tick_;
    std::function<void()> ended_;
    std::atomic<bool> ending_{false};
    mutable std::atomic<std::uint64_t> counted_{0};
};

}  // namespace shoal::seeder
