// Which pieces a peer takes across the border of its zone, so that each crosses once: those that rendezvous hashing gives to it among the live peers of its
// zone. A piece that comes no further is let through to more and more of them: each `gives_way` to twice as many. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::policy {

struct ZoneLimits {
    Duration gives_way = std::chrono::seconds{4};  // without a new holder in the own zone, and without anything new coming into it
};

class ZoneFilter {
public:
    ZoneFilter(const PeerId& self, std::size_t pieces, ZoneLimits limits = {});

    // Other live peers of the own zone; each id once.
    void joined(const PeerId& other) { count(other, 1); }
    void left(const PeerId& other) { count(other, -1); }

    void offered_abroad(PieceIndex piece, TimePoint now);  // a peer of another zone has it
    void held_at_home(PieceIndex piece, TimePoint now);    // one more peer of the own zone has it

    [[nodiscard]] bool mine(PieceIndex piece) const { return pieces_[piece.value].before == 0; }
    // Whether a peer of another zone may be asked for it.
    [[nodiscard]] bool heeds(PieceIndex piece, TimePoint now) const;

private:
    struct Piece {
        std::uint32_t before = 0;  // peers more entitled to it
        bool at_home = false;
        std::optional<TimePoint> moved;  // offered, or one more has it
    };
    void count(const PeerId& other, int sign);

    PeerId self_;
    ZoneLimits limits_;
    TimePoint entered_ = TimePoint::min();  // when a piece had its first holder in the own zone, last
    std::vector<Piece> pieces_;
};

}  // namespace shoal::policy
