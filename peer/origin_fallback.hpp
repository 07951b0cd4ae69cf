// When a fetch reads the object store itself, and which of its missing pieces. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/random.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::peer {

// The swarm must have given nothing for so long, and for a random part of as much again: many nodes that lose their seeders together do not turn to the
// store together, and who comes later finds pieces with those who came first. Shorter where --stall-timeout is: all of it fits in.
inline constexpr Duration longest_quiet = std::chrono::seconds{10};
// A seeder that is connected may be waiting for the cluster's cap or for the store: it gets so many times the quiet.
inline constexpr int patience_with_seeders = 3;

Duration quiet_time(Duration stall_timeout);
// The same for trackers that have not answered at all: their time to do so.
Duration turn_of_trackers(Duration stall_timeout, std::uint64_t seed);

// What a fetch knows of its swarm; bytes since it joined.
struct SwarmFacts {
    std::uint64_t from_seeders = 0;
    std::uint64_t from_peers = 0;
    bool seeder_connected = false;
    std::uint32_t nobodys = 0;  // missing pieces that no connected member holds
};

// The missing pieces and who else is there.
struct Missing {
    std::vector<PieceIndex> nobodys;  // held by no connected member
    std::vector<PieceIndex> held;     // by some
    std::vector<PeerId> peers;        // connected, no seeders
    std::uint32_t pieces = 0;         // of the revision
};

class OriginFallback {
public:
    enum class Change { none, began, ended };

    // `quiet_since`: when the swarm last gave something, or could have.
    OriginFallback(const PeerId& self, TimePoint quiet_since, Duration stall_timeout, std::uint64_t seed);

    // Begins after the quiet; ends when a seeder gives, or peers do who hold all that is missing.
    Change saw(const SwarmFacts& facts, TimePoint now);
    [[nodiscard]] bool reading() const { return reading_; }
    [[nodiscard]] Duration quiet(TimePoint now) const { return now - moved_; }

    // At most `most` pieces to read, in random order. First those that nobody connected holds: of them this peer's own part, by rendezvous hashing among the
    // connected peers, who may read the rest. The rest when the swarm has given nothing for a fifth of the quiet, and what others hold, but do not give,
    // after another quiet.
    std::vector<PieceIndex> choose(const Missing& missing, std::size_t most, TimePoint now);

private:
    [[nodiscard]] Duration patience(bool seeder_connected) const;
    const std::vector<bool>& own_part(const Missing& missing);
    std::vector<PieceIndex> some_of(std::vector<PieceIndex> pieces, std::size_t most);

    PeerId self_;
    Duration quiet_;
    Random random_;
    Duration jitter_;
    TimePoint moved_;
    TimePoint began_{};
    bool reading_ = false;
    std::uint64_t received_ = 0;
    std::uint64_t from_seeders_ = 0;
    std::vector<PeerId> peers_;  // that own_ was made for
    std::vector<bool> own_;
};

}  // namespace shoal::peer
