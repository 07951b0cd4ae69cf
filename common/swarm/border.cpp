#include "common/swarm/border.hpp"

namespace shoal::swarm {

void Border::set_members(const std::vector<Member>& members)
{
    std::set<PeerId> mates;
    for (const Member& member : members)
        if (!member.seeder && !member.across && member.peer != self_) mates.insert(member.peer);
    for (const PeerId& mate : mates)
        if (!mates_.contains(mate)) filter_.joined(mate);
    for (const PeerId& mate : mates_)
        if (!mates.contains(mate)) filter_.left(mate);
    mates_ = std::move(mates);
}

}  // namespace shoal::swarm
