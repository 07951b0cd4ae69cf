// The choices of a Handout: which seeders, which peers, and whom to exchange.
#include "common/policy/handout.hpp"

#include <algorithm>
#include <utility>

namespace shoal::policy {
namespace {

constexpr std::size_t max_avoided = 16;
constexpr std::uint8_t silent_periods = 2;

std::size_t total_of(const std::vector<const IndexedSet<std::uint32_t>*>& sources)
{
    std::size_t total = 0;
    for (const auto* source : sources) total += source->size();
    return total;
}

}  // namespace

// --- seeders

void Handout::link_seeders(Slot peer, Random& random)
{
    const Node& node = nodes_[peer];
    if (seeders_.empty() || node.edges.size() - node.peers >= std::min(limits_.seeders, seeders_.size())) return;
    const std::size_t first = random() % seeders_.size();
    for (std::size_t i = 0; i < seeders_.size(); ++i) {
        if (nodes_[peer].edges.size() - nodes_[peer].peers >= limits_.seeders) return;
        link_to_seeder(peer, seeders_[(first + i) % seeders_.size()]);
    }
}

void Handout::link_to_seeder(Slot peer, Slot seeder)
{
    const Standing& standing = nodes_[peer].standing;
    if (!standing.dialable && !nodes_[seeder].standing.dialable) return;
    if (find_edge(peer, seeder) != nullptr) return;
    const std::size_t room = standing.complete ? limits_.at_a_seeder / 2 : limits_.at_a_seeder;
    if (nodes_[seeder].edges.size() >= room && (standing.complete || !make_room(seeder))) return;
    link(peer, seeder);
}

// A peer that has all gives way to one that lacks part.
bool Handout::make_room(Slot seeder)
{
    const auto& edges = nodes_[seeder].edges;
    const auto complete = std::find_if(edges.begin(), edges.end(), [this](const Edge& edge) { return nodes_[edge.other].standing.complete; });
    if (complete == edges.end()) return false;
    unlink(seeder, complete->other);
    return true;
}

void Handout::fill_seeder(Slot seeder, Random& random)
{
    for (const Group* group : {&lacking_.all, &complete_.all}) {
        if (group->empty()) continue;
        const std::size_t tries = std::min(group->size(), 2 * limits_.at_a_seeder);
        const std::size_t first = random() % group->size();
        for (std::size_t i = 0; i < tries; ++i) {
            const Slot peer = (*group)[(first + i) % group->size()];
            if (nodes_[peer].edges.size() - nodes_[peer].peers < limits_.seeders) link_to_seeder(peer, seeder);
        }
    }
}

// --- peers

void Handout::top_up(Slot slot, Random& random)
{
    const Node& node = nodes_[slot];
    if (node.peers >= limits_.target) return;
    const auto up_to = [&](std::size_t wanted, std::size_t has) {
        return std::min(wanted - std::min(wanted, has), limits_.target - std::min(limits_.target, node.peers));
    };
    const std::size_t random_part = node.peers == 0 ? limits_.random : 0;
    grow(slot, {Scope::rack, up_to(limits_.rack, count(node, Scope::rack)), limits_.most}, random);
    grow(slot, {Scope::outside, up_to(limits_.outside, count(node, Scope::outside)), limits_.most}, random);
    grow(slot, {Scope::anywhere, up_to(random_part, 0), limits_.most}, random);
    grow(slot, {Scope::zone, up_to(limits_.target, node.peers), limits_.most}, random);
    grow(slot, {Scope::anywhere, up_to(limits_.target, node.peers), limits_.most}, random);
    grow(slot, {Scope::anywhere, up_to(limits_.least, node.peers), 2 * limits_.most}, random);
}

void Handout::grow(Slot slot, const Search& search, Random& random)
{
    for (const Slot other : choose(slot, search, random)) {
        if (may_link(slot, other, search.most)) link(slot, other);  // each link may be the one that is enough
    }
}

std::vector<Handout::Slot> Handout::choose(Slot slot, const Search& search, Random& random) const
{
    std::vector<Slot> found = draw(slot, search, random);
    std::shuffle(found.begin(), found.end(), random);
    const auto rank = [&](Slot other) {  // who can be dialled, then who has few
        const Node& node = nodes_[other];
        return (node.standing.dialable ? 0 : 3) + (node.peers < limits_.floor ? 0 : node.peers < limits_.target ? 1 : 2);
    };
    std::stable_sort(found.begin(), found.end(), [&](Slot a, Slot b) { return rank(a) < rank(b); });
    if (found.size() > search.count) found.resize(search.count);
    return found;
}

// A sample of those that could be linked, each once; of few, all.
std::vector<Handout::Slot> Handout::draw(Slot slot, const Search& search, Random& random) const
{
    std::vector<Slot> found;
    const Sources sources = sources_for(nodes_[slot], search.scope);
    const std::size_t total = total_of(sources);
    if (search.count == 0 || total == 0) return found;
    const auto consider = [&](std::size_t at) {
        std::size_t source = 0;
        for (; at >= sources[source]->size(); ++source) at -= sources[source]->size();
        const Slot other = (*sources[source])[at];
        if (search.scope == Scope::outside && nodes_[other].standing.place.zone == nodes_[slot].standing.place.zone) return;
        if (may_link(slot, other, search.most)) found.push_back(other);
    };
    const std::size_t draws = 3 * search.count + 32;
    if (total <= draws) {
        for (std::size_t at = 0; at < total; ++at) consider(at);
        return found;
    }
    for (std::size_t i = 0; i < draws; ++i) consider(random() % total);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

Handout::Sources Handout::sources_for(const Node& node, Scope scope) const
{
    Sources sources;
    const Place& place = node.standing.place;
    const auto add = [&](const Groups& groups) {
        if (scope == Scope::zone) {
            if (const auto zone = groups.zones.find(place.zone); zone != groups.zones.end()) sources.push_back(&zone->second);
        } else if (scope == Scope::rack) {
            if (const auto rack = groups.racks.find(place); rack != groups.racks.end()) sources.push_back(&rack->second);
        } else {
            if (scope == Scope::anywhere || groups.zones.size() > 1 || !groups.zones.contains(place.zone)) sources.push_back(&groups.all);
        }
    };
    add(lacking_);
    if (!node.standing.complete) add(complete_);  // two that have all need not meet
    return sources;
}

bool Handout::may_link(Slot slot, Slot other, std::size_t most) const
{
    const Node& self = nodes_[slot];
    const Node& node = nodes_[other];
    if (slot == other || (self.standing.complete && node.standing.complete)) return false;
    if (!self.standing.dialable && !node.standing.dialable) return false;
    if (node.peers >= most || (node.peers >= limits_.target && self.peers >= limits_.floor)) return false;
    if (std::find(self.avoid.begin(), self.avoid.end(), node.peer) != self.avoid.end()) return false;
    return find_edge(slot, other) == nullptr;
}

std::size_t Handout::count(const Node& node, Scope scope) const
{
    return static_cast<std::size_t>(std::count_if(node.edges.begin(), node.edges.end(), [&](const Edge& edge) {
        const Standing& other = nodes_[edge.other].standing;
        if (other.role != Role::peer) return false;
        return scope == Scope::rack ? other.place == node.standing.place : other.place.zone != node.standing.place.zone;
    }));
}

// --- silent neighbours

void Handout::heard(const PeerId& peer, const std::vector<Received>& received, TimePoint now, Duration period, Random& random)
{
    const auto known = slots_.find(peer);
    if (known == slots_.end()) return;
    Node& node = nodes_[known->second];
    for (const auto& [from, bytes] : received) {
        const auto giver = slots_.find(from);
        if (giver == slots_.end()) continue;
        const auto edge = std::find_if(node.edges.begin(), node.edges.end(), [&](const Edge& each) { return each.other == giver->second; });
        if (edge != node.edges.end()) edge->bytes += bytes;
    }
    if (now - node.period_began < period) return;
    node.period_began = now;
    if (close_period(known->second)) exchange_silent(known->second, random);
}

// Whether the peer got nothing in the period that ends.
bool Handout::close_period(Slot slot)
{
    Node& node = nodes_[slot];
    const bool got = std::any_of(node.edges.begin(), node.edges.end(), [](const Edge& edge) { return edge.bytes > 0; });
    const bool starved = !got && !node.standing.complete && node.standing.bytes_have <= node.had;
    for (Edge& edge : node.edges) {
        const Standing& other = nodes_[edge.other].standing;
        const bool could_give = other.role == Role::peer && (other.complete || other.bytes_have > node.standing.bytes_have);
        const bool to_blame = starved && could_give;
        edge.silent = to_blame ? std::min<std::uint8_t>(silent_periods, static_cast<std::uint8_t>(edge.silent + 1)) : 0;
        edge.bytes = 0;
    }
    node.had = node.standing.bytes_have;
    return starved;
}

// Only against somebody else: a silent neighbour is better than none.
void Handout::exchange_silent(Slot slot, Random& random)
{
    std::vector<Slot> silent;
    for (const Edge& edge : nodes_[slot].edges) {
        if (edge.silent >= silent_periods && silent.size() < limits_.replaced) silent.push_back(edge.other);
    }
    if (silent.empty()) return;
    const auto others = choose(slot, {Scope::anywhere, silent.size(), limits_.most}, random);
    for (std::size_t i = 0; i < others.size(); ++i) {
        Node& node = nodes_[slot];
        node.avoid.push_back(nodes_[silent[i]].peer);
        if (node.avoid.size() > max_avoided) node.avoid.pop_front();
        unlink(slot, silent[i]);
        link(slot, others[i]);
    }
}

}  // namespace shoal::policy
