// What a peer lets through to libtorrent of what members in other zones have, so that each piece crosses the border once. Network thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/policy/zone_filter.hpp"
#include "common/swarm/member.hpp"

#include <set>
#include <vector>

namespace shoal::swarm {

class Border {
public:
    Border(const PeerId& self, std::size_t pieces) : self_{self}, filter_{self, pieces} {}

    void set_members(const std::vector<Member>& members);  // those of the own zone share the pieces among them
    void held_at_home(PieceIndex piece) { filter_.held_at_home(piece, Clock::now()); }
    void offered_abroad(PieceIndex piece) { filter_.offered_abroad(piece, Clock::now()); }
    [[nodiscard]] bool lets_in(PieceIndex piece, TimePoint now) const { return filter_.heeds(piece, now); }

private:
    PeerId self_;
    policy::ZoneFilter filter_;
    std::set<PeerId> mates_;
};

}  // namespace shoal::swarm
