// What the switchboard knows, counted for people and for metrics: nodes, not processes. Pure.
#pragma once

#include "common/core/clock.hpp"
#include "tracker/switchboard.hpp"

#include <map>
#include <string>
#include <vector>

namespace shoal::tracker {

const char* name_of(wire::HoldState state);  // "wanted", "fetching", "held", "withdrawn"
bool is_lacking(wire::HoldState state);      // wanted or fetching

// Processes by the machine they run on; a node counts once however many there are.
std::map<std::string, std::vector<const Member*>> by_node(const Roster& roster);

// "fetching" if anything is wanted there, else "seeding" with a seeder, "ready" with something held, "idle".
const char* state_of(const std::vector<const Member*>& node);

struct NodeCounts {
    std::size_t ready = 0;
    std::size_t fetching = 0;
};
NodeCounts count_nodes(const Roster& roster, const RevisionId& revision, const Swarm& swarm);  // seeders are not counted

Duration oldest_beat(const Roster& roster, TimePoint now);

}  // namespace shoal::tracker
