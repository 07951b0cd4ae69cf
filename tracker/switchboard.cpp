#include "tracker/switchboard.hpp"

#include "tracker/address.hpp"

#include <algorithm>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::size_t neighbours_in_a_reply = 8000;  // at most 400 bytes each: below wire::max_reply_bytes
constexpr std::size_t neighbours_in_a_swarm = 250;   // below what the wire takes
constexpr std::size_t wishes_in_a_reply = 4096;
constexpr std::size_t few_holdings = 64;  // with more, swarms in which nothing moves are left out

wire::Nearness nearness(const Place& a, const Place& b)
{
    if (a.zone != b.zone) return wire::Nearness::remote;
    return !a.rack.empty() && a.rack == b.rack ? wire::Nearness::rack : wire::Nearness::zone;
}

policy::Role role_of(const Member& member)
{
    return member.is_seeder() ? policy::Role::seeder : policy::Role::peer;
}

std::vector<policy::Received> received_in(const wire::Beat& beat)
{
    std::vector<policy::Received> received;
    received.reserve(beat.received.size());
    for (const auto& [from, bytes] : beat.received) received.push_back({from, bytes});
    return received;
}

// What it says of itself goes before where its beat came from, which may be a gateway.
std::optional<Address> address_of(const wire::Beat& beat, const std::string& remote)
{
    for (const std::string& text : beat.addresses) {
        if (const auto address = parse_address(text)) return address;
    }
    return parse_address(remote);
}

}  // namespace

std::size_t Swarm::wanting() const
{
    const auto lacks = [](const Stranger& stranger) { return !stranger.complete; };
    return handout.lacking() + static_cast<std::size_t>(std::count_if(strangers.begin(), strangers.end(), lacks));
}

Switchboard::Switchboard(Duration beat, Topology topology, std::uint64_t seed, TimePoint started, OriginTerms origin, RosterLimits limits)
    : beat_{beat},
      topology_{std::move(topology)},
      random_{seed},
      started_{started},
      id_{random_id<TrackerId>()},
      roster_{beat, limits},
      origin_copies_{origin.copies},
      origin_{origin.limit, beat, started}
{}

Switchboard::Answer Switchboard::take(const wire::Beat& beat, const std::string& remote, TimePoint now, wire::Reply& reply)
{
    const bool known = roster_.find(beat.peer) != nullptr;
    Taken taken = roster_.take(beat, remote, topology_.find(beat.node, address_of(beat, remote)), now);
    if (!known && taken.kind == Taken::Kind::taken) record("joined", beat.peer, beat.node, now);
    if (known && taken.kind == Taken::Kind::left) record("left", beat.peer, beat.node, now);
    if (taken.kind == Taken::Kind::left) tell_all(origin_.left(beat.peer, now), now);
    settle(taken.touched, taken.gone, now);
    reply = blank(now);
    reply.need_full = taken.kind == Taken::Kind::need_full;
    reply.refusal = std::move(taken.refusal);
    if (taken.kind == Taken::Kind::refused && roster_.find(beat.peer) != nullptr)
        news_.tell(beat.peer, Urgency::ordinary, now);                              // the first of two hears of it
    if (taken.kind == Taken::Kind::overtaken) reply = this->reply(beat.peer, now);  // the later one goes on being held
    if (taken.kind != Taken::Kind::taken) return Answer::now;
    const Member& member = *roster_.find(beat.peer);
    if (member.is_seeder()) {
        seeders_.insert(beat.peer);
        hear_origin(beat, now);
    }
    hear_received(member, beat, now);
    if (!taken.moved) return Answer::may_wait;
    for (const auto& [revision, holding] : member.holdings) {
        Swarm& swarm = swarms_.at(revision);
        swarm.handout.refresh(beat.peer);
        announce_changes(revision, swarm, swarm.wanting(), now);
    }
    news_.tell(beat.peer, Urgency::urgent, now);
    return Answer::may_wait;
}

void Switchboard::told(const PeerId& peer, TimePoint now)
{
    if (roster_.find(peer) == nullptr) return;
    roster_.set_waits(peer, false, now);
    news_.answered(peer, now);
    origin_.told(peer, now);
}

void Switchboard::hear_origin(const wire::Beat& beat, TimePoint now)
{
    OriginClaim claim{.obeys = beat.origin_rate, .busy = beat.origin_busy};
    for (const wire::Confirmed& confirmed : beat.origin_confirmed)
        if (confirmed.tracker == id_) claim.confirmed = confirmed.number;
    tell_all(origin_.heard(beat.peer, claim, now), now);
}

void Switchboard::tell_all(const std::vector<PeerId>& peers, TimePoint now)
{
    for (const PeerId& peer : peers) news_.tell(peer, Urgency::urgent, now);
}

wire::Reply Switchboard::reply(const PeerId& peer, TimePoint now) const
{
    wire::Reply reply = blank(now);
    const Member* member = roster_.find(peer);
    if (member == nullptr) {
        reply.need_full = true;
        return reply;
    }
    reply.zone = member->place.zone;
    reply.rack = member->place.rack;
    reply.warning = roster_.warning(peer, now);
    std::size_t room = neighbours_in_a_reply;
    for (const auto& [revision, holding] : member->holdings) {
        const auto swarm = swarms_.find(revision);
        if (swarm == swarms_.end()) continue;
        auto said = describe(revision, swarm->second, *member, room);
        const bool idle = said.neighbours.empty() && said.withdrawn.empty() && said.wanting == 0;
        if (!idle || member->holdings.size() <= few_holdings) reply.swarms.push_back(std::move(said));
    }
    if (!member->is_seeder()) return reply;
    reply.wishes = wishes_for(*member);
    reply.origin_capped = origin_.limit() > 0;
    reply.origin = origin_.slice(peer);
    reply.origin_copies = origin_copies_;
    return reply;
}

void Switchboard::hold(const PeerId& peer, TimePoint until, TimePoint now)
{
    roster_.set_waits(peer, true, now);
    news_.hold(peer, until, now);
}

std::vector<PeerId> Switchboard::release(TimePoint now)
{
    auto due = news_.release(now);
    for (const PeerId& peer : due) roster_.set_waits(peer, false, now);
    return due;
}

std::vector<PeerId> Switchboard::expire(TimePoint now)
{
    const Expired expired = roster_.expire(now);
    for (const PeerId& peer : expired.gone) record("silent", peer, {}, now);
    settle(expired.touched, expired.gone, now);
    tell_all(origin_.pass(now), now);
    return expired.gone;
}

void Switchboard::set_strangers(const RevisionId& revision, const std::string& model, std::vector<Stranger> strangers, TimePoint now)
{
    if (strangers.empty() && !swarms_.contains(revision)) return;
    Swarm& swarm = swarms_[revision];
    const std::size_t before = swarm.wanting();
    swarm.strangers = std::move(strangers);
    if (swarm.model.empty()) swarm.model = model;
    for (const PeerId& peer : swarm.members) news_.tell(peer, Urgency::ordinary, now);
    announce_changes(revision, swarm, before, now);
    if (swarm.members.empty() && swarm.strangers.empty()) swarms_.erase(revision);
}

// --- what a beat changes

void Switchboard::settle(const std::vector<Touched>& touched, const std::vector<PeerId>& gone, TimePoint now)
{
    for (const PeerId& peer : gone) {
        if (roster_.find(peer) != nullptr) continue;  // another instance has taken its place
        news_.forget(peer);
        if (seeders_.erase(peer) > 0) tell_all(origin_.silent(peer, now), now);
    }
    for (const Touched& each : touched) {
        Swarm& swarm = swarms_[each.revision];
        const std::size_t before = swarm.wanting();
        const std::size_t seeders = swarm.handout.seeders();
        settle(swarm, each, now);
        if (swarm.handout.seeders() != seeders) reshare(swarm, now);
        announce_changes(each.revision, swarm, before, now);
        if (swarm.members.empty() && swarm.strangers.empty()) swarms_.erase(each.revision);
    }
}

// The seeders that are left, or one more, split the pieces anew.
void Switchboard::reshare(const Swarm& swarm, TimePoint now)
{
    for (const PeerId& seeder : seeders_)
        if (swarm.members.contains(seeder)) news_.tell(seeder, Urgency::urgent, now);
}

void Switchboard::settle(Swarm& swarm, const Touched& touched, TimePoint now)
{
    const wire::Holding* holding = roster_.find(touched.peer, touched.revision);
    if (holding == nullptr) {
        leave(swarm, touched.peer);
        return;
    }
    if (!holding->model.empty()) swarm.model = holding->model;
    if (holding->bytes_total > 0) swarm.bytes = holding->bytes_total;
    join(swarm, *roster_.find(touched.peer), *holding, now);
}

void Switchboard::join(Swarm& swarm, const Member& member, const wire::Holding& holding, TimePoint now)
{
    swarm.members.insert(member.id());
    const bool lacked = swarm.handout.lacks(member.id());
    const bool complete = holding.state == wire::HoldState::held;
    const bool takes_part = member.is_seeder() ? complete : holding.state != wire::HoldState::withdrawn;
    if (takes_part)
        swarm.handout.put(member.id(), {role_of(member), complete, member.dialable, member.place, holding.bytes_have}, now, random_);
    else
        swarm.handout.remove(member.id(), random_);
    if (lacked && complete) record("fetched", member.id(), member.beat.node, now, &holding);
    if (member.is_seeder() && holding.state == wire::HoldState::withdrawn)
        withdraw(swarm, member, holding, now);
    else
        swarm.withdrawn.erase(member.id());
}

void Switchboard::withdraw(Swarm& swarm, const Member& seeder, const wire::Holding& holding, TimePoint now)
{
    if (!swarm.withdrawn.insert(seeder.id()).second) return;
    for (const PeerId& other : swarm.members) news_.tell(other, Urgency::urgent, now);
    record("withdrawn", seeder.id(), seeder.beat.node, now, &holding);
}

void Switchboard::record(const char* what, const PeerId& peer, const std::string& node, TimePoint now, const wire::Holding* holding)
{
    Happening happening{.number = 0, .at = now, .what = what, .peer = peer, .node = node, .model = {}, .revision = {}, .trouble = {}};
    if (holding != nullptr) {
        happening.model = holding->model;
        happening.revision = holding->revision;
        happening.trouble = holding->trouble;
    }
    journal_.add(std::move(happening));
}

void Switchboard::leave(Swarm& swarm, const PeerId& peer)
{
    swarm.handout.remove(peer, random_);
    swarm.members.erase(peer);
    swarm.withdrawn.erase(peer);
}

void Switchboard::announce_changes(const RevisionId& revision, Swarm& swarm, std::size_t wanted_before, TimePoint now)
{
    for (const auto& [peer, urgent] : swarm.handout.take_changes()) news_.tell(peer, urgent ? Urgency::urgent : Urgency::ordinary, now);
    const std::size_t wanted = swarm.wanting();
    if (wanted_before == 0 && wanted > 0) {
        for (const PeerId& seeder : seeders_) {
            if (roster_.find(seeder, revision) == nullptr) news_.tell(seeder, Urgency::urgent, now);  // a wish
        }
    }
    if (wanted_before > 0 && wanted == 0) {
        for (const PeerId& peer : swarm.members) news_.tell(peer, Urgency::ordinary, now);  // who lingers may leave
    }
}

void Switchboard::hear_received(const Member& member, const wire::Beat& beat, TimePoint now)
{
    const std::vector<policy::Received> received = received_in(beat);
    for (const auto& [revision, holding] : member.holdings) {
        if (holding.state != wire::HoldState::wanted && holding.state != wire::HoldState::fetching) continue;
        Swarm& swarm = swarms_.at(revision);
        swarm.handout.heard(beat.peer, received, now, beat_, random_);
        announce_changes(revision, swarm, swarm.wanting(), now);
    }
}

// --- what a reply says

wire::Reply Switchboard::blank(TimePoint now) const
{
    wire::Reply reply;
    reply.tracker = id_;
    reply.beat_ms = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(beat_).count());
    reply.young = young(now);
    reply.stock_clients = strangers_allowed_;
    return reply;
}

wire::Swarm Switchboard::describe(const RevisionId& revision, const Swarm& swarm, const Member& member, std::size_t& room) const
{
    wire::Swarm said;
    said.revision = revision;
    said.model = swarm.model;
    said.wanting = static_cast<std::uint32_t>(swarm.wanting());
    tell_withdrawal(swarm, said);
    for (const auto& [peer, dial] : swarm.handout.neighbours(member.id())) {
        const Member* other = roster_.find(peer);
        const wire::Holding* holding = roster_.find(peer, revision);
        if (other == nullptr || holding == nullptr || room == 0) continue;
        --room;
        said.neighbours.push_back({peer, other->beat.key, other->beat.role, nearness(member.place, other->place), dial, holding->state == wire::HoldState::held,
            dial ? other->endpoints : std::vector<std::string>{}, other->dialable, holding->bytes_have > 0, other->place.zone});
    }
    for (const Stranger& stranger : swarm.strangers) {
        if (room == 0 || said.neighbours.size() >= neighbours_in_a_swarm) break;
        --room;
        said.neighbours.push_back(
            {stranger.peer, MemberKey{}, wire::Role::peer, wire::Nearness::remote, true, stranger.complete, {stranger.endpoint}, true, stranger.complete, {}});
    }
    if (member.is_seeder()) said.seeders = serving(revision);
    return said;
}

std::vector<PeerId> Switchboard::serving(const RevisionId& revision) const
{
    std::vector<PeerId> serving;
    for (const PeerId& seeder : seeders_) {
        const wire::Holding* const holding = roster_.find(seeder, revision);
        if (holding != nullptr && holding->state == wire::HoldState::held && serving.size() < neighbours_in_a_swarm) serving.push_back(seeder);
    }
    return serving;
}

void Switchboard::tell_withdrawal(const Swarm& swarm, wire::Swarm& said) const
{
    if (swarm.withdrawn.empty() || swarm.handout.seeders() > 0) return;
    const wire::Holding* holding = roster_.find(*swarm.withdrawn.begin(), said.revision);
    if (holding == nullptr) return;
    said.withdrawn = holding->trouble.empty() ? "the seeder withdrew it" : holding->trouble;
    said.missing = holding->missing;
}

std::vector<wire::Wish> Switchboard::wishes_for(const Member& seeder) const
{
    std::vector<wire::Wish> wishes;
    for (const auto& [revision, swarm] : swarms_) {
        if (swarm.wanting() > 0 && !seeder.holdings.contains(revision)) wishes.push_back({revision, swarm.model});
        if (wishes.size() == wishes_in_a_reply) break;
    }
    return wishes;
}

}  // namespace shoal::tracker
