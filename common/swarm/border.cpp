#include "common/swarm/border.hpp"

#include <algorithm>
#include <utility>

namespace shoal::swarm {
namespace {

// A seeder shows its pieces at home where anybody is there, else everywhere.
std::vector<policy::ZoneFilter::Seeder> seeders_of(const std::vector<Member>& members, const std::string& own_zone)
{
    const auto inhabited = [&](const std::string& zone) {
        return zone == own_zone || std::any_of(members.begin(), members.end(), [&](const Member& member) { return !member.seeder && member.zone == zone; });
    };
    std::vector<policy::ZoneFilter::Seeder> seeders;
    for (const Member& member : members)
        if (member.seeder) seeders.push_back({member.peer, inhabited(member.zone) ? member.zone : std::string{}});
    return seeders;
}

}  // namespace

void Border::set_members(const std::vector<Member>& members)
{
    std::set<PeerId> mates;
    for (const Member& member : members)
        if (!member.seeder && member.zone == zone_ && member.peer != self_) mates.insert(member.peer);
    for (const PeerId& mate : mates)
        if (!mates_.contains(mate)) filter_.joined(mate);
    for (const PeerId& mate : mates_)
        if (!mates.contains(mate)) filter_.left(mate);
    mates_ = std::move(mates);
    filter_.shown_by(seeders_of(members, zone_));
}

}  // namespace shoal::swarm
