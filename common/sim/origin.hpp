// The seeder of a simulated swarm: the dispatch, the window, an uplink that sends one piece after the other, and what left it. Not thread-safe.
#pragma once

#include "common/core/random.hpp"
#include "common/policy/dispatch.hpp"
#include "common/policy/uplink.hpp"
#include "common/sim/scenario.hpp"

#include <deque>
#include <functional>
#include <optional>

namespace shoal::sim {

class Origin {
public:
    using Show = policy::Dispatch::Show;

    explicit Origin(const Scenario& scenario);

    policy::Dispatch& dispatch() { return dispatch_; }
    void show(TimePoint now, Random& random);  // fills the window
    // What it sends now: the first of what was shown that `takes` answers take. None: it sends already, or nobody takes anything.
    enum class Answer : std::uint8_t { take, later, never };
    std::optional<Show> send(const std::function<Answer(const Show&)>& takes);
    void sent(policy::PeerSlot peer, TimePoint now);

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // that left it
    [[nodiscard]] double busiest_second() const { return busiest_; }
    [[nodiscard]] std::uint64_t overruns() const { return overruns_; }

private:
    void count(TimePoint now);

    std::uint32_t piece_bytes_;
    policy::Dispatch dispatch_;
    policy::Uplink uplink_;
    std::deque<Show> queue_;  // shown, and not yet sent; never more than a window
    bool sending_ = false;
    std::uint64_t bytes_ = 0;
    std::deque<TimePoint> last_second_;  // when pieces were sent
    double busiest_ = 0;
    std::uint64_t overruns_ = 0;
};

}  // namespace shoal::sim
