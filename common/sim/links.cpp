// The links of a Swarm: what two hosts that come together or part know of each other, and what may cross a border.
#include "common/sim/swarm.hpp"

#include <algorithm>
#include <bit>

namespace shoal::sim {
namespace {

// Calls `with` for each piece of a set.
template <typename Function>
void for_each_piece(const std::vector<std::uint64_t>& words, Function with)
{
    for (std::size_t word = 0; word < words.size(); ++word)
        for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1)
            with(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
}

}  // namespace

void Swarm::link(Number a, Number b)
{
    Node& one = nodes_[a];
    Node& two = nodes_[b];
    if (!one.line->alive || !two.line->alive || one.link_to(b) != nullptr) return;
    if (std::find(one.banned.begin(), one.banned.end(), b) != one.banned.end()) return;
    const bool across = one.zone != two.zone;
    one.links.push_back({.other = b, .across = across});
    two.links.push_back({.other = a, .across = across});
    one.outcome.neighbours = std::max(one.outcome.neighbours, one.links.size());
    two.outcome.neighbours = std::max(two.outcome.neighbours, two.links.size());
    know_zone(one, two, 1);
    know_zone(two, one, 1);
    count(one, two, 1, across);
    count(two, one, 1, across);
    ask_in_vain(a, b);
    ask_in_vain(b, a);
    if (one.line->gives()) give(a);
    if (two.line->gives()) give(b);
}

void Swarm::unlink(Number a, Number b)
{
    Node& one = nodes_[a];
    Node& two = nodes_[b];
    const bool across = one.zone != two.zone;
    if (std::erase_if(one.links, [b](const Link& link) { return link.other == b; }) == 0) return;
    std::erase_if(two.links, [a](const Link& link) { return link.other == a; });
    know_zone(one, two, -1);
    know_zone(two, one, -1);
    count(one, two, -1, across);
    count(two, one, -1, across);
}

void Swarm::unlink_all(Number number)
{
    std::vector<Number> others;
    for (const Link& link : nodes_[number].links) others.push_back(link.other);
    for (const Number other : others) unlink(number, other);
}

void Swarm::ban(Number a, Number b)
{
    nodes_[a].banned.push_back(b);
    nodes_[b].banned.push_back(a);
    unlink(a, b);
}

// What `of` has, in the eyes of `by`.
void Swarm::count(Node& by, const Node& of, int sign, bool across)
{
    for_each_piece(of.announced.words(), [&](std::uint32_t piece) {
        by.holders[piece] = static_cast<std::uint8_t>(by.holders[piece] + sign);
        if (sign > 0 && has_zones()) hear(by, across, piece);
    });
}

void Swarm::know_zone(Node& by, const Node& of, int sign)
{
    if (by.zone == of.zone) return;
    if (sign > 0)
        by.filter->met(of.host->zone);
    else
        by.filter->parted(of.host->zone);
}

void Swarm::hear(Node& node, bool across, std::uint32_t piece)
{
    if (across)
        node.filter->offered_abroad({piece}, now_);
    else
        node.filter->held_at_home({piece}, now_);
    reconsider(node, piece);
}

// From which zones it may come; whether there is one more.
bool Swarm::reconsider(Node& node, std::uint32_t piece)
{
    bool wider = false;
    for (std::size_t zone = 0; zone < node.abroad.size(); ++zone) {
        PieceSet& from = node.abroad[zone];
        if (zone == node.zone || !node.filter->heeds({piece}, borders_.name_of(zone), now_)) {
            from.clear(piece);
            continue;
        }
        wider |= !from.test(piece);
        from.set(piece);
    }
    return wider;
}

void Swarm::know_zone_mate(Number number, bool came)
{
    Node& node = nodes_[number];
    for (Node& other : nodes_) {
        if (!other.line->alive || &other == &node || node.zone != other.zone) continue;
        if (came) {
            other.filter->joined(node.id);
            node.filter->joined(other.id);
        } else {
            other.filter->left(node.id);
        }
    }
}

// What has waited too long may come from abroad.
void Swarm::widen_borders()
{
    for (Number number = 0; number < nodes_.size(); ++number) {
        Node& node = nodes_[number];
        if (!node.line->alive || node.line->held == scenario_.pieces) continue;
        bool wider = false;
        for (std::uint32_t piece = 0; piece < scenario_.pieces; ++piece)
            if (!node.coming.test(piece)) wider |= reconsider(node, piece);
        if (wider) feed(number);
    }
}

}  // namespace shoal::sim
