// The seeder of a simulated swarm: the dispatch, the window, the ceiling on what it reads, an uplink that sends one piece after the other, and what left it.
// It has no cache: what is shown again is read again. Not thread-safe.
#pragma once

#include "common/core/random.hpp"
#include "common/policy/dispatch.hpp"
#include "common/policy/rate_bucket.hpp"
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
    // What it sends now: the first of what was shown and read that `takes` answers take. None: it sends already, or nobody takes anything.
    enum class Answer : std::uint8_t { take, later, never };
    std::optional<Show> send(TimePoint now, const std::function<Answer(const Show&)>& takes);
    // When the next piece will have been read, if one is not yet.
    [[nodiscard]] std::optional<TimePoint> reads_until(TimePoint now) const;
    void sent(policy::PeerSlot peer, TimePoint now);

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // that left it
    [[nodiscard]] double busiest_second() const { return static_cast<double>(sends_.most) * piece_bytes_; }
    [[nodiscard]] double busiest_read() const { return static_cast<double>(reads_.most) * piece_bytes_; }
    [[nodiscard]] std::uint64_t overruns() const { return overruns_; }

private:
    struct Ready {
        Show show;
        TimePoint at;  // it is read
    };
    struct BySecond {  // how often something happened in any second
        std::deque<TimePoint> last;
        std::size_t most = 0;
        void count(TimePoint now);
    };

    std::uint32_t piece_bytes_;
    policy::Dispatch dispatch_;
    policy::Uplink uplink_;
    policy::RateBucket store_;
    std::deque<Ready> queue_;  // shown, and not yet sent; never more than a window
    bool sending_ = false;
    std::uint64_t bytes_ = 0;
    BySecond sends_, reads_;
    std::uint64_t overruns_ = 0;
};

}  // namespace shoal::sim
