// What a played swarm came to, from what its hosts did. Pure.
#pragma once

#include "common/sim/node.hpp"

#include <vector>

namespace shoal::sim {

// Times, the bound, and the hosts' own numbers; what the seeder counted is the caller's to add.
Outcome outcome_of(const Scenario& scenario, const std::vector<Node>& nodes);

}  // namespace shoal::sim
