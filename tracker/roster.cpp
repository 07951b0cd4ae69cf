#include "tracker/roster.hpp"

#include "tracker/address.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::size_t max_displaced = 1024;
constexpr int missed_beats = 2;

// Beats are jittered by a fifth, and one may be on its way: half a beat more.
Duration expiry(Duration beat)
{
    return missed_beats * beat + beat / 2;
}

std::string second_process(const wire::Beat& beat, const Member& first)
{
    const std::string where = first.endpoints.empty() ? first.node() : first.endpoints.front() + " on node " + first.node();
    return "peer id " + to_hex(beat.peer) + " is taken: by the process at " + where + "; give this one a store directory of its own, not a copy of another's";
}

wire::Beat identity_of(const wire::Beat& beat)
{
    wire::Beat identity = beat;
    identity.holdings.clear();
    identity.dropped.clear();
    identity.received.clear();
    return identity;
}

}  // namespace

std::string Member::node() const
{
    return beat.node.empty() ? to_hex(beat.peer) : beat.node;
}

Taken Roster::take(const wire::Beat& beat, const std::string& remote, const Place& place, TimePoint now)
{
    Taken taken;
    const auto known = members_.find(beat.peer);
    Member* member = known == members_.end() ? nullptr : &known->second;
    auto endpoints = endpoints_of(beat, remote);
    taken.refusal = refusal(beat, member, endpoints, now);
    if (!taken.refusal.empty()) {
        taken.kind = Taken::Kind::refused;
        return taken;
    }
    const bool same = member != nullptr && member->beat.instance == beat.instance;
    if (same) member->heard = now;
    if (beat.leaving) {
        taken.kind = Taken::Kind::left;
        if (same) drop(beat.peer, taken.touched, taken.gone);
        return taken;
    }
    if (same && beat.sequence < member->beat.sequence) {
        taken.kind = Taken::Kind::overtaken;
        return taken;
    }
    if (!beat.full && !continues(beat, member)) {
        taken.kind = Taken::Kind::need_full;
        return taken;
    }
    if (member != nullptr && !same) drop(beat.peer, taken.touched, taken.gone);
    Member& mine = members_[beat.peer];
    mine.heard = now;
    taken.moved = !same || mine.endpoints != endpoints;
    if (taken.moved) release_endpoints(mine);
    mine.endpoints = std::move(endpoints);
    settle_in(mine, beat, place, taken);
    return taken;
}

// Whether a delta has its base here: the beat before it was taken.
bool Roster::continues(const wire::Beat& beat, const Member* known)
{
    return known != nullptr && known->beat.instance == beat.instance && beat.sequence <= known->beat.sequence + 1;
}

void Roster::settle_in(Member& member, const wire::Beat& beat, const Place& place, Taken& taken)
{
    const Place where{beat.zone.empty() ? place.zone : beat.zone, beat.rack.empty() ? place.rack : beat.rack};
    const bool dialable = beat.dialable && !member.endpoints.empty() && claim(beat.peer, member.endpoints, taken);
    if (member.dialable != dialable || member.place != where || member.beat.key != beat.key || member.beat.role != beat.role) taken.moved = true;
    member.beat = identity_of(beat);
    member.place = where;
    member.dialable = dialable;
    apply_holdings(member, beat, taken.touched);
    if (!taken.moved) return;
    for (const auto& [revision, holding] : member.holdings) taken.touched.push_back({beat.peer, revision});
}

std::string Roster::warning(const PeerId& peer, TimePoint now) const
{
    const auto twin = twins_.find(peer);
    if (twin == twins_.end() || now - twin->second > expiry(beat_)) return {};
    return "another process beats with this peer id, " + to_hex(peer) + "; it is refused while this one is alive";
}

Expired Roster::expire(TimePoint now)
{
    Expired expired;
    std::vector<PeerId> silent;
    for (const auto& [id, member] : members_) {
        if (!member.waits && now - member.heard > expiry(beat_)) silent.push_back(id);
    }
    for (const PeerId& id : silent) drop(id, expired.touched, expired.gone);
    std::erase_if(twins_, [&](const auto& twin) { return !members_.contains(twin.first) || now - twin.second > expiry(beat_); });
    return expired;
}

void Roster::set_waits(const PeerId& peer, bool waits, TimePoint now)
{
    const auto known = members_.find(peer);
    if (known == members_.end()) return;
    known->second.waits = waits;
    known->second.heard = std::max(known->second.heard, now);
}

const Member* Roster::find(const PeerId& peer) const
{
    const auto known = members_.find(peer);
    return known == members_.end() ? nullptr : &known->second;
}

const wire::Holding* Roster::find(const PeerId& peer, const RevisionId& revision) const
{
    const Member* member = find(peer);
    if (member == nullptr) return nullptr;
    const auto holding = member->holdings.find(revision);
    return holding == member->holdings.end() ? nullptr : &holding->second;
}

// Why a beat is not taken; empty if it is.
std::string Roster::refusal(const wire::Beat& beat, const Member* known, const std::vector<std::string>& endpoints, TimePoint now)
{
    if (known != nullptr && known->beat.instance != beat.instance) {
        const bool silent = !known->waits && now - known->heard > beat_ + beat_ / 2;
        const bool in_its_place = !endpoints.empty() && endpoints == known->endpoints;  // it has the port: the first is dead
        if (!silent && !in_its_place && !beat.leaving) {
            twins_[beat.peer] = now;
            return second_process(beat, *known);
        }
    }
    return too_much(beat, known);
}

std::string Roster::too_much(const wire::Beat& beat, const Member* known) const
{
    const auto full = [](const char* what, std::size_t limit) { return std::string{"the tracker is full: "} + std::to_string(limit) + " " + what; };
    if (known == nullptr && members_.size() >= limits_.members) return full("processes", limits_.members);
    if (holdings_ + beat.holdings.size() > limits_.holdings + (known == nullptr ? 0 : known->holdings.size())) return full("holdings", limits_.holdings);
    const std::array<std::pair<const char*, const std::string*>, 8> texts{
        {{"node", &beat.node}, {"zone", &beat.zone}, {"rack", &beat.rack}, {"software", &beat.software}, {"namespace", &beat.workload.pod_namespace},
            {"pod", &beat.workload.pod_name}, {"pod uid", &beat.workload.pod_uid}, {"workload", &beat.workload.workload}}};
    for (const auto& [what, text] : texts) {
        if (text->size() > limits_.text)
            return std::string{what} + " is " + std::to_string(text->size()) + " bytes long: at most " + std::to_string(limits_.text);
    }
    std::size_t labels = 0;
    for (const auto& [key, value] : beat.labels) labels += key.size() + value.size();
    if (labels > limits_.labels) return "labels are " + std::to_string(labels) + " bytes long: at most " + std::to_string(limits_.labels);
    return {};
}

// Only addresses count: a name could resolve to something else for everybody.
std::vector<std::string> Roster::endpoints_of(const wire::Beat& beat, const std::string& remote) const
{
    std::vector<std::string> endpoints;
    if (beat.port == 0) return endpoints;
    const auto add = [&](const std::string& text) {
        const auto address = parse_address(text);
        if (!address || address->is_unspecified() || endpoints.size() >= limits_.addresses) return;
        std::string found = endpoint(*address, beat.port);
        if (std::find(endpoints.begin(), endpoints.end(), found) == endpoints.end()) endpoints.push_back(std::move(found));
    };
    for (const std::string& text : beat.addresses) add(text);
    if (beat.addresses.empty()) add(remote);
    return endpoints;
}

// Takes the endpoints from whoever had them: the address has come back as another node. Whoever loses one so and beats on is alive: two processes seem to
// share an address (behind NAT), and the later claim is not believed.
bool Roster::claim(const PeerId& peer, const std::vector<std::string>& endpoints, Taken& taken)
{
    const bool lost_before = std::find(displaced_.begin(), displaced_.end(), peer) != displaced_.end();
    for (const std::string& each : endpoints) {
        const auto owner = by_endpoint_.find(each);
        if (owner == by_endpoint_.end() || owner->second == peer) continue;
        if (lost_before) return false;
        const PeerId older = owner->second;
        remember_displaced(older);
        drop(older, taken.touched, taken.gone);
    }
    for (const std::string& each : endpoints) by_endpoint_[each] = peer;
    return true;
}

void Roster::apply_holdings(Member& member, const wire::Beat& beat, std::vector<Touched>& touched)
{
    holdings_ -= member.holdings.size();
    if (beat.full) {
        std::unordered_set<RevisionId> told;
        for (const auto& holding : beat.holdings) told.insert(holding.revision);
        for (const auto& [revision, holding] : member.holdings) {
            if (!told.contains(revision)) touched.push_back({member.id(), revision});
        }
        std::erase_if(member.holdings, [&](const auto& entry) { return !told.contains(entry.first); });
    }
    for (const RevisionId& revision : beat.dropped) {
        if (member.holdings.erase(revision) > 0) touched.push_back({member.id(), revision});
    }
    for (const auto& holding : beat.holdings) {
        auto& mine = member.holdings[holding.revision] = holding;
        if (mine.trouble.size() > limits_.trouble) mine.trouble.resize(limits_.trouble);
        touched.push_back({member.id(), holding.revision});
    }
    holdings_ += member.holdings.size();
}

void Roster::drop(const PeerId& peer, std::vector<Touched>& touched, std::vector<PeerId>& gone)
{
    const auto known = members_.find(peer);
    if (known == members_.end()) return;
    release_endpoints(known->second);
    for (const auto& [revision, holding] : known->second.holdings) touched.push_back({peer, revision});
    holdings_ -= known->second.holdings.size();
    gone.push_back(peer);
    members_.erase(known);
}

void Roster::release_endpoints(const Member& member)
{
    for (const std::string& each : member.endpoints) {
        const auto owner = by_endpoint_.find(each);
        if (owner != by_endpoint_.end() && owner->second == member.id()) by_endpoint_.erase(owner);
    }
}

void Roster::remember_displaced(const PeerId& peer)
{
    displaced_.push_back(peer);
    if (displaced_.size() > max_displaced) displaced_.pop_front();
}

}  // namespace shoal::tracker
