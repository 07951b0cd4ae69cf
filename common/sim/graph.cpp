#include "common/sim/graph.hpp"

#include <algorithm>

namespace shoal::sim {

Graph::Graph(const Scenario& scenario, Random& random) : scenario_{scenario}, random_{random}, handout_{scenario.handout}
{
    const PeerId seeder = fresh_id();
    numbers_.emplace(seeder, nobody);
    handout_.put(seeder, {.role = policy::Role::seeder, .complete = true, .place = {scenario.seeder_zone, {}}}, TimePoint{}, random_);
}

PeerId Graph::add_host(Number number)
{
    const PeerId id = fresh_id();
    ids_.push_back(id);
    numbers_.emplace(id, number);
    return id;
}

void Graph::beat(Node& node, TimePoint now)
{
    std::vector<policy::Received> received;
    for (Link& link : node.links) {
        if (link.received > 0) received.push_back({ids_[link.other], link.received * std::uint64_t{scenario_.piece_bytes}});
        link.received = 0;
    }
    const policy::Standing standing{.complete = node.line->held == scenario_.pieces,
        .dialable = node.host->dialable,
        .place = {node.host->zone, {}},
        .bytes_have = node.line->held * std::uint64_t{scenario_.piece_bytes}};
    handout_.put(node.id, standing, now, random_);
    handout_.heard(node.id, received, now, scenario_.beat, random_);
}

void Graph::forget(const Node& node)
{
    handout_.remove(node.id, random_);
}

std::vector<Graph::Wanted> Graph::changed()
{
    std::vector<Wanted> all;
    for (const auto& change : handout_.take_changes()) {
        Wanted wanted{numbers_.at(change.peer), {}};
        for (const auto& link : handout_.neighbours(change.peer)) wanted.neighbours.push_back(numbers_.at(link.peer));
        all.push_back(std::move(wanted));
    }
    std::sort(all.begin(), all.end(), [](const Wanted& a, const Wanted& b) { return a.host < b.host; });
    return all;
}

PeerId Graph::fresh_id()
{
    PeerId id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    return id;
}

}  // namespace shoal::sim
