// What one tracker has been told, so that a beat says only what has changed since. Pure; not thread-safe.
#pragma once

#include "common/core/ids.hpp"
#include "common/wire/beat.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace shoal::control {

// A tracker takes a delta if it took the beat before, or this one already (sequence at most one above its last); else it asks for a full report.
// Beats may overlap: the answer to one may come after the next was sent.
class Told {
public:
    static constexpr std::uint64_t full_every = 20;
    static constexpr std::size_t most_holdings = 4096;  // in one beat; the rest follows in the next

    // Numbers begin after `after`. A tracker takes no beat of a process that counts below one that it has taken.
    explicit Told(std::uint64_t after = 0) : sequence_{after} {}

    // The beat to send, from the whole state, whose `received` are totals: numbered, a delta where the tracker has its base, received since the last answered one.
    wire::Beat next(wire::Beat whole);
    // The answer to beat `sequence`. False: an answer to a later one has been here, this one is old.
    bool answered(std::uint64_t sequence, bool need_full);
    void failed(std::uint64_t sequence);  // the tracker may have taken it or not: the next is full
    void forget();                        // another tracker answers in its place: the next is full
    void follow(std::uint64_t sequence);  // the tracker has heard of this process by others, up to `sequence`: the next is full, and numbered above that
    [[nodiscard]] std::uint64_t sequence() const { return sequence_; }  // of the last beat

private:
    using Holdings = std::map<RevisionId, wire::Holding>;
    using Totals = std::map<PeerId, std::uint64_t>;
    struct Sent {
        std::uint64_t sequence = 0;
        bool full = false;
        Holdings told;  // all that the tracker knows once it has taken this one
        Totals received;
        std::set<RevisionId> named;  // in this one
    };
    [[nodiscard]] bool is_full_due(std::size_t holdings) const;
    void make_delta(wire::Beat& beat, Sent& sent) const;
    void make_full(wire::Beat& beat, Sent& sent) const;
    void count_received(wire::Beat& beat, Sent& sent) const;

    std::uint64_t sequence_;
    std::uint64_t last_full_ = 0;
    Totals counted_;               // when the last was answered; stands also while the base does not
    std::optional<Sent> base_;     // the last answered
    std::deque<Sent> unanswered_;  // since then
};

}  // namespace shoal::control
