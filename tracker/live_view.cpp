#include "tracker/live_view.hpp"

#include <algorithm>
#include <set>

namespace shoal::tracker {

const char* name_of(wire::HoldState state)
{
    switch (state) {
    case wire::HoldState::wanted: return "wanted";
    case wire::HoldState::fetching: return "fetching";
    case wire::HoldState::held: return "held";
    case wire::HoldState::withdrawn: return "withdrawn";
    }
    return "unknown";
}

bool is_lacking(wire::HoldState state)
{
    return state == wire::HoldState::wanted || state == wire::HoldState::fetching;
}

std::map<std::string, std::vector<const Member*>> by_node(const Roster& roster)
{
    std::map<std::string, std::vector<const Member*>> nodes;
    for (const auto& [id, member] : roster.members()) nodes[member.node()].push_back(&member);
    return nodes;
}

const char* state_of(const std::vector<const Member*>& node)
{
    bool seeding = false;
    bool ready = false;
    for (const Member* member : node) {
        seeding |= member->is_seeder();
        for (const auto& [revision, holding] : member->holdings) {
            if (!member->is_seeder() && is_lacking(holding.state)) return "fetching";
            ready |= holding.state == wire::HoldState::held;
        }
    }
    return seeding ? "seeding" : ready ? "ready" : "idle";
}

NodeCounts count_nodes(const Roster& roster, const RevisionId& revision, const Swarm& swarm)
{
    std::set<std::string> ready;
    std::set<std::string> fetching;
    for (const PeerId& id : swarm.members) {
        const Member* member = roster.find(id);
        const wire::Holding* holding = roster.find(id, revision);
        if (member == nullptr || holding == nullptr || member->is_seeder()) continue;
        if (holding->state == wire::HoldState::held)
            ready.insert(member->node());
        else if (is_lacking(holding->state))
            fetching.insert(member->node());
    }
    std::erase_if(fetching, [&](const std::string& node) { return ready.contains(node); });
    return {ready.size(), fetching.size()};
}

Duration oldest_beat(const Roster& roster, TimePoint now)
{
    Duration oldest{};
    for (const auto& [id, member] : roster.members()) {
        if (!member.waits) oldest = std::max(oldest, now - member.heard);
    }
    return oldest;
}

}  // namespace shoal::tracker
