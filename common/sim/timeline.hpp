// What is going to happen, in order of time; what was said first goes first at one moment. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace shoal::sim {

using Number = std::uint32_t;  // of a host
constexpr Number nobody = UINT32_MAX;

struct Event {
    enum class Kind : std::uint8_t {
        join,
        die,
        forget,  // the hand-out has missed two beats of it
        beat,
        tick,
        sent,         // a piece has left an uplink
        seeder_sent,  // the seeder's
        read,         // the seeder has read a piece
        known,        // the piece has arrived, been announced, and may be asked for
        in_vain,      // a silent host was asked
    };
    Kind kind = Kind::tick;
    TimePoint at;
    Number from = nobody, to = nobody;
    std::uint32_t piece = 0;
    double rate = 0;  // bytes/s that it takes of the receiver's downlink
    std::uint64_t order = 0;

    bool operator>(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
};

class Timeline {
public:
    Timeline() : slots_(slots) {}
    void add(Event event);
    [[nodiscard]] bool empty() const { return count_ == 0; }
    Event take();

private:
    using Queue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;
    // Most is about to happen, and is kept by the millisecond: one queue of all would not fit into the processor's cache.
    static constexpr std::size_t slots = 1024;
    [[nodiscard]] static std::int64_t slot_of(TimePoint at) { return at.time_since_epoch() / std::chrono::milliseconds{1}; }
    void open_next_slot();

    Queue due_;  // up to the slot that is open
    Queue far_;  // beyond the slots
    std::vector<std::vector<Event>> slots_;
    std::size_t in_slots_ = 0;
    std::int64_t open_ = 0;
    std::size_t count_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace shoal::sim
