#include "common/sim/outcome.hpp"

#include <algorithm>
#include <limits>

namespace shoal::sim {
namespace {

// max(F/u_s, F/d_min, NF/(u_s + sum u)) in seconds.
double bound_of(const Scenario& scenario, const std::vector<Node>& nodes)
{
    const double seeder_up = scenario.origin_limit == 0 ? scenario.seeder_up : std::min(scenario.seeder_up, static_cast<double>(scenario.origin_limit));
    double up = seeder_up;
    double least_down = std::numeric_limits<double>::max();
    double count = 0;
    for (const Node& node : nodes) {
        if (!node.line->alive) continue;
        ++count;
        if (node.host->conduct == Conduct::honest) up += node.host->up;
        least_down = std::min(least_down, node.host->down);
    }
    const double bytes = static_cast<double>(scenario.pieces) * scenario.piece_bytes;
    return std::max({bytes / seeder_up, bytes / least_down, count * bytes / up});
}

}  // namespace

Outcome outcome_of(const Scenario& scenario, const std::vector<Node>& nodes)
{
    Outcome outcome;
    std::vector<Duration> times;
    for (const Node& node : nodes) {
        outcome.hosts.push_back(node.outcome);
        outcome.hosts.back().lives = node.line->alive;
        if (!node.line->alive) continue;
        if (node.outcome.took)
            times.push_back(*node.outcome.took);
        else
            ++outcome.unfinished;
    }
    outcome.bound = bound_of(scenario, nodes);
    std::sort(times.begin(), times.end());
    if (!times.empty()) {
        outcome.last = times.back();
        outcome.median = times[times.size() / 2];
    }
    return outcome;
}

}  // namespace shoal::sim
