// What a peer lets through to libtorrent of what members in other zones have, so that each piece crosses the border once. Network thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/policy/zone_filter.hpp"
#include "common/swarm/member.hpp"

#include <set>
#include <string>
#include <vector>

namespace shoal::swarm {

class Border {
public:
    Border(const PeerId& self, const std::string& zone, std::size_t pieces) : self_{self}, zone_{zone}, filter_{self, zone, pieces} {}

    void set_members(const std::vector<Member>& members);  // those of the own zone share the pieces among them
    void met(const std::string& zone) { filter_.met(zone); }
    void parted(const std::string& zone) { filter_.parted(zone); }
    void held_at_home(PieceIndex piece) { filter_.held_at_home(piece, Clock::now()); }
    void offered_abroad(PieceIndex piece) { filter_.offered_abroad(piece, Clock::now()); }
    [[nodiscard]] bool lets_in(PieceIndex piece, const std::string& zone, TimePoint now) const { return filter_.heeds(piece, zone, now); }

private:
    PeerId self_;
    std::string zone_;
    policy::ZoneFilter filter_;
    std::set<PeerId> mates_;
};

}  // namespace shoal::swarm
