// Which pieces a peer takes across the border of its zone, and from which zone, so that each piece crosses into each zone once, and goes from zone to zone
// rather than from one to all: a border need not be wider than an uplink. Of a zone's live peers one takes it, by rendezvous hashing; it comes from the zone
// before theirs in the piece's order of zones, which begins where a seeder shows it. What comes no further is let through from everywhere, and then to more
// and more of them. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::policy {

struct ZoneLimits {
    Duration elsewhere = std::chrono::seconds{1};  // from when another zone first offers a piece that lacks at home: it may come from any
    Duration gives_way = std::chrono::seconds{4};  // without a new holder in the own zone, and without anything new coming into it: to twice as many peers
};

class ZoneFilter {
public:
    struct Seeder {
        PeerId peer;
        std::string zone;  // where it shows its share of the pieces; empty: everywhere
    };

    ZoneFilter(const PeerId& self, std::string zone, std::size_t pieces, ZoneLimits limits = {});

    // Other live peers of the own zone; each id once.
    void joined(const PeerId& other) { count(other, 1); }
    void left(const PeerId& other) { count(other, -1); }
    // Connections to peers of other zones.
    void met(const std::string& zone);
    void parted(const std::string& zone);
    // All that there are.
    void shown_by(std::vector<Seeder> seeders);

    void offered_abroad(PieceIndex piece, TimePoint now);  // a peer of another zone has it
    void held_at_home(PieceIndex piece, TimePoint now);    // one more peer of the own zone has it

    [[nodiscard]] bool mine(PieceIndex piece) const { return pieces_[piece.value].before == 0; }
    // Whether a peer of that other zone may be asked for it.
    [[nodiscard]] bool heeds(PieceIndex piece, const std::string& zone, TimePoint now) const;

private:
    static constexpr std::uint32_t anywhere = UINT32_MAX;
    struct Abroad {
        std::string zone;
        std::size_t connections = 0;
    };
    struct Piece {
        std::uint32_t before = 0;  // peers more entitled to it
        bool at_home = false;
        bool shown_at_home = false;
        std::optional<TimePoint> moved;  // offered, or one more has it
        std::uint32_t from = anywhere;   // of abroad_
    };
    void count(const PeerId& other, int sign);
    void order();
    [[nodiscard]] const std::string* home_of(PieceIndex piece) const;
    [[nodiscard]] std::uint32_t zone_before(PieceIndex piece, const std::string& home) const;

    PeerId self_;
    std::string zone_;
    ZoneLimits limits_;
    std::vector<Seeder> seeders_;
    std::vector<Abroad> abroad_;
    TimePoint entered_ = TimePoint::min();  // when a piece had its first holder in the own zone, last
    std::vector<Piece> pieces_;
};

}  // namespace shoal::policy
