#include "tracker/gauges.hpp"

#include "tracker/live_view.hpp"

#include <map>

namespace shoal::tracker {

void Gauges::refresh(TimePoint now)
{
    before_.swap(shown_);
    shown_.clear();
    set_nodes();
    set_revisions();
    set("shoal_oldest_beat_seconds", "Age of the oldest beat among live processes.", {},
        std::chrono::duration<double>(oldest_beat(board_.roster(), now)).count());
    set("shoal_processes", "Processes that beat.", {}, static_cast<double>(board_.roster().members().size()));
    set("shoal_held_replies", "Beats whose reply waits for news.", {}, static_cast<double>(board_.waiting()));
    set("shoal_tracker_cache_bytes", "Manifests, layers and records kept in memory.", {}, static_cast<double>(library_.cached_bytes()));
    for (const auto& [name, labels] : before_) {
        if (!shown_.contains({name, labels})) metrics_.drop(name, labels);
    }
}

void Gauges::set(const std::string& name, const std::string& help, const obs::Labels& labels, double value)
{
    metrics_.set(name, help, labels, value);
    shown_.emplace(name, labels);
}

void Gauges::set_nodes()
{
    std::map<std::pair<std::string, std::string>, double> counts;
    for (const auto& [name, members] : by_node(board_.roster())) ++counts[{members.front()->place.zone, state_of(members)}];
    for (const auto& [key, count] : counts) set("shoal_nodes", "Nodes with a live process.", {{"zone", key.first}, {"state", key.second}}, count);
}

void Gauges::set_revisions()
{
    for (const auto& [revision, swarm] : board_.swarms()) {
        const obs::Labels labels{{"model", swarm.model}, {"revision", to_hex(revision).substr(0, 12)}};
        const NodeCounts counts = count_nodes(board_.roster(), revision, swarm);
        const auto nodes = [&](const char* state, std::size_t count) {
            obs::Labels with_state = labels;
            with_state["state"] = state;
            set("shoal_revision_nodes", "Nodes that hold a revision, or fetch it.", with_state, static_cast<double>(count));
        };
        nodes("ready", counts.ready);
        nodes("fetching", counts.fetching);
        set("shoal_revision_bytes", "Size of a revision.", labels, static_cast<double>(swarm.bytes));
    }
}

}  // namespace shoal::tracker
