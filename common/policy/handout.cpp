#include "common/policy/handout.hpp"

#include <algorithm>
#include <utility>

namespace shoal::policy {
namespace {

bool is_seeder(const Standing& standing)
{
    return standing.role == Role::seeder;
}

// Differences that put a member elsewhere in the graph.
bool same_shape(const Standing& a, const Standing& b)
{
    return a.role == b.role && a.dialable == b.dialable && a.place == b.place;
}

template <typename Map>
void erase_from(Map& groups, const typename Map::key_type& key, std::uint32_t slot)
{
    const auto group = groups.find(key);
    if (group == groups.end()) return;
    group->second.erase(slot);
    if (group->second.empty()) groups.erase(group);
}

}  // namespace

void Handout::put(const PeerId& peer, const Standing& standing, TimePoint now, Random& random)
{
    auto known = slots_.find(peer);
    if (known != slots_.end() && !same_shape(nodes_[known->second].standing, standing)) {
        remove(peer, random);
        known = slots_.end();
    }
    const Slot slot = known == slots_.end() ? enter(peer, standing, now) : known->second;
    update(slot, standing);
    connect(slot, random);
}

void Handout::remove(const PeerId& peer, Random& random)
{
    const auto known = slots_.find(peer);
    if (known == slots_.end()) return;
    const Slot slot = known->second;
    std::vector<Slot> left;
    for (const Edge& edge : nodes_[slot].edges) left.push_back(edge.other);
    for (const Slot other : left) unlink(slot, other);
    leave_groups(slot);
    slots_.erase(known);
    changed_.erase(slot);
    nodes_[slot] = Node{};
    free_.push_back(slot);
    if (lacking() == 0) end_all();
    for (const Slot other : left) {
        if (nodes_[other].peers < limits_.floor) connect(other, random);
    }
}

void Handout::refresh(const PeerId& peer)
{
    const auto known = slots_.find(peer);
    if (known == slots_.end()) return;
    for (const Edge& edge : nodes_[known->second].edges) mark(edge.other, false);
}

std::vector<Handout::Link> Handout::neighbours(const PeerId& peer) const
{
    std::vector<Link> links;
    const auto known = slots_.find(peer);
    if (known == slots_.end()) return links;
    const Node& node = nodes_[known->second];
    links.reserve(node.edges.size());
    for (const Edge& edge : node.edges) links.push_back({nodes_[edge.other].peer, dials(node, edge)});
    return links;
}

bool Handout::lacks(const PeerId& peer) const
{
    const auto known = slots_.find(peer);
    return known != slots_.end() && lacking_.all.contains(known->second);
}

std::vector<Handout::Change> Handout::take_changes()
{
    std::vector<Change> changes;
    changes.reserve(changed_.size());
    for (const auto& [slot, urgent] : changed_) changes.push_back({nodes_[slot].peer, urgent});
    changed_.clear();
    return changes;
}

Handout::Slot Handout::enter(const PeerId& peer, const Standing& standing, TimePoint now)
{
    Slot slot = static_cast<Slot>(nodes_.size());
    if (free_.empty()) {
        nodes_.emplace_back();
    } else {
        slot = free_.back();
        free_.pop_back();
    }
    nodes_[slot] = {.peer = peer, .standing = standing, .edges = {}, .peers = 0, .period_began = now, .had = standing.bytes_have, .avoid = {}};
    slots_.emplace(peer, slot);
    join_groups(slot);
    return slot;
}

void Handout::update(Slot slot, const Standing& standing)
{
    Node& node = nodes_[slot];
    if (node.standing.complete == standing.complete) {
        node.standing = standing;
        return;
    }
    leave_groups(slot);
    node.standing = standing;
    join_groups(slot);
    const auto both_complete = [](const Node& self, const Node& other) {
        return self.standing.complete && other.standing.complete && !is_seeder(other.standing);  // a seeder must go on hearing what they hold
    };
    unlink_where(slot, both_complete);
    if (lacking() == 0) end_all();
}

// Nothing is left to move.
void Handout::end_all()
{
    if (edges_ == 0) return;
    for (const auto& [peer, slot] : slots_) unlink_where(slot, [](const Node&, const Node&) { return true; });
}

void Handout::connect(Slot slot, Random& random)
{
    if (lacking() == 0) return;
    if (is_seeder(nodes_[slot].standing)) {
        fill_seeder(slot, random);
        return;
    }
    link_seeders(slot, random);
    top_up(slot, random);
}

void Handout::join_groups(Slot slot)
{
    const Node& node = nodes_[slot];
    if (is_seeder(node.standing)) {
        seeders_.insert(slot);
        return;
    }
    Groups& groups = groups_of(node);
    const Place& place = node.standing.place;
    groups.all.insert(slot);
    groups.zones[place.zone].insert(slot);
    if (!place.rack.empty()) groups.racks[place].insert(slot);
}

void Handout::leave_groups(Slot slot)
{
    const Node& node = nodes_[slot];
    seeders_.erase(slot);
    Groups& groups = groups_of(node);
    groups.all.erase(slot);
    erase_from(groups.zones, node.standing.place.zone, slot);
    erase_from(groups.racks, node.standing.place, slot);
}

// --- edges

void Handout::link(Slot from, Slot to)
{
    Node& a = nodes_[from];
    Node& b = nodes_[to];
    a.edges.push_back({.other = to, .mine = true});
    b.edges.push_back({.other = from, .mine = false});
    ++edges_;
    if (!is_seeder(b.standing)) ++a.peers;
    if (!is_seeder(a.standing)) ++b.peers;
    mark(from, a.edges.size() == 1 || is_seeder(b.standing));
    mark(to, b.edges.size() == 1 || is_seeder(a.standing));
}

void Handout::unlink(Slot a, Slot b)
{
    const auto cut = [this](Slot from, Slot to) {
        Node& node = nodes_[from];
        if (std::erase_if(node.edges, [to](const Edge& edge) { return edge.other == to; }) == 0) return;
        if (!is_seeder(nodes_[to].standing)) --node.peers;
        mark(from, false);
    };
    cut(a, b);
    cut(b, a);
    --edges_;
}

void Handout::unlink_where(Slot slot, bool (*useless)(const Node& self, const Node& other))
{
    std::vector<Slot> ended;
    for (const Edge& edge : nodes_[slot].edges) {
        if (useless(nodes_[slot], nodes_[edge.other])) ended.push_back(edge.other);
    }
    for (const Slot other : ended) unlink(slot, other);
}

const Handout::Edge* Handout::find_edge(Slot from, Slot to) const
{
    const auto& edges = nodes_[from].edges;
    const auto found = std::find_if(edges.begin(), edges.end(), [to](const Edge& edge) { return edge.other == to; });
    return found == edges.end() ? nullptr : &*found;
}

void Handout::mark(Slot slot, bool urgent)
{
    changed_[slot] |= urgent;
}

// One side dials, or there would be two connections: the peer rather than the seeder, the newcomer rather than who was there; but whom nobody can dial must.
bool Handout::dials(const Node& self, const Edge& edge) const
{
    const Standing& other = nodes_[edge.other].standing;
    if (self.standing.dialable != other.dialable) return other.dialable;
    if (is_seeder(self.standing) != is_seeder(other)) return is_seeder(other);
    return edge.mine;
}

}  // namespace shoal::policy
