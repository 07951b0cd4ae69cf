// Who knows whom in a simulated swarm: the hand-out, told by beats, and its hosts by number. Not thread-safe.
#pragma once

#include "common/core/random.hpp"
#include "common/policy/handout.hpp"
#include "common/sim/node.hpp"

#include <unordered_map>
#include <vector>

namespace shoal::sim {

class Graph {
public:
    Graph(const Scenario& scenario, Random& random);

    PeerId add_host(Number number);        // a fresh identity
    void beat(Node& node, TimePoint now);  // joins, or tells how far it is and what it received
    void forget(const Node& node);

    struct Wanted {
        Number host = nobody;  // nobody: the seeder
        std::vector<Number> neighbours;
    };
    // Whose neighbours should be others than at the last call, the seeder among them (as `nobody`).
    std::vector<Wanted> changed();

private:
    PeerId fresh_id();

    const Scenario& scenario_;
    Random& random_;
    policy::Handout handout_;
    std::vector<PeerId> ids_;
    std::unordered_map<PeerId, Number> numbers_;
};

}  // namespace shoal::sim
