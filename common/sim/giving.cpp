// How pieces move in a Swarm: an uplink that is free gives to the next neighbour in turn that lacks something and has room for it.
#include "common/sim/swarm.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace shoal::sim {
namespace {

constexpr std::uint32_t none = UINT32_MAX;  // no piece

}  // namespace

// --- the seeder

// Shows what may be shown, and sends.
void Swarm::seed()
{
    origin_.show(now_, random_);
    send();
}

void Swarm::send()
{
    const auto show = origin_.send(now_, [this](const Origin::Show& shown) {
        const Node& to = nodes_[shown.peer];
        if (!to.line->alive || !to.beside_seeder || to.announced.test(shown.piece.value)) return Origin::Answer::never;
        return !to.coming.test(shown.piece.value) && to.line->has_room(scenario_.seeder_up) ? Origin::Answer::take : Origin::Answer::later;
    });
    if (show) begin(Event::Kind::seeder_sent, nobody, show->peer, show->piece.value, scenario_.seeder_up);
    if (scenario_.origin_limit == 0) return;
    const auto until = origin_.reads_until(now_);
    if (!until || (reads_until_ && *until >= *reads_until_ && *reads_until_ > now_)) return;  // it is told then
    reads_until_ = until;
    add(Event::Kind::read, *until - now_, nobody);
}

void Swarm::seeder_sent(const Event& event)
{
    origin_.sent(event.to, now_);
    deliver(event);
    seed();
    feed(event.to);
}

// --- a piece's way

void Swarm::begin(Event::Kind kind, Number from, Number to, std::uint32_t piece, double up)
{
    Node& node = nodes_[to];
    const double rate = std::min(up, lines_[to].down);
    if (from != nobody && nodes_[from].zone != node.zone) borders_.sets_out(nodes_[from].zone, node.zone);
    node.coming.set(piece);
    lines_[to].inbound += rate;
    ++transfers_;
    timeline_.add({.kind = kind, .at = now_ + time_of(rate), .from = from, .to = to, .piece = piece, .rate = rate});
}

void Swarm::sent(const Event& event)
{
    lines_[event.from].busy = false;
    deliver(event);
    if (lines_[event.from].gives()) give(event.from);  // to the next in turn, before the receiver asks again
    feed(event.to);
}

// It has left the sender, and the receiver's downlink is free again; a round trip after it has arrived, others can ask for it.
void Swarm::deliver(const Event& event)
{
    Node& to = nodes_[event.to];
    to.line->inbound = std::max(0.0, to.line->inbound - event.rate);
    Event next = event;
    next.kind = Event::Kind::known;
    next.at = now_ + delay_of(to) * 3;
    if (event.from != nobody) {
        const Node& from = nodes_[event.from];
        if (!from.line->alive) {
            if (from.zone != to.zone) borders_.gives_up(from.zone, to.zone);
            return drop(event);
        }
        if (from.zone != to.zone) next.at += borders_.reaches(from.zone, to.zone, now_) - now_;
        next.at += from.delay;
    }
    if (next.at == now_)
        known(next);
    else
        timeline_.add(next);
}

void Swarm::known(const Event& event)
{
    Node& to = nodes_[event.to];
    if (event.from == nobody) {
        if (!to.line->alive) return;
        to.outcome.shown += scenario_.piece_bytes;
        return gain(event.to, event.piece);
    }
    Node& from = nodes_[event.from];
    if (from.zone != to.zone) cross(from.zone);
    if (!to.line->alive) return;
    Link* link = to.link_to(event.from);
    if (from.line->conduct == Conduct::lying) {
        drop(event);
        if (link != nullptr) ban(event.from, event.to);
        return feed(event.to);
    }
    from.outcome.given += scenario_.piece_bytes;
    if (link != nullptr) ++link->received;
    gain(event.to, event.piece);
}

// A piece is through, and there may be room for another.
void Swarm::cross(std::size_t from)
{
    borders_.crossed(scenario_.piece_bytes);
    if (borders_.narrow()) give_across(from);
}

// It will not come, or is worth nothing.
void Swarm::drop(const Event& event)
{
    nodes_[event.to].coming.clear(event.piece);
}

void Swarm::gain(Number number, std::uint32_t piece)
{
    Node& node = nodes_[number];
    node.announced.set(piece);
    node.gained = now_;
    node.outcome.received += scenario_.piece_bytes;
    if (++node.line->held == scenario_.pieces) {
        node.outcome.took = now_ - TimePoint{} - node.host->joins - delay_of(node) * 2;  // it had it before all knew
        ++complete_;
        graph_.beat(node, now_);
    }
    for (const Link& link : node.links) {
        ++holders_[std::size_t{link.other} * scenario_.pieces + piece];
        if (has_zones()) hear(nodes_[link.other], link.across, piece);
    }
    if (node.line->conduct == Conduct::silent)
        for (std::size_t i = 0; i < node.links.size(); ++i) ask_in_vain(number, node.links[i].other);
    if (node.line->gives()) give(number);
    if (!node.beside_seeder) return;
    origin_.dispatch().has(number, {piece}, now_);
    seed();
}

// --- who gives to whom

// `from`'s uplink is free. Who waits for a narrow border has asked long ago: as soon as there is room, it is used.
void Swarm::give(Number number)
{
    if (borders_.narrow() && give_some(number, true)) return;
    (void)give_some(number, false);
}

bool Swarm::give_some(Number number, bool only_across)
{
    Node& from = nodes_[number];
    const std::size_t links = from.links.size();
    std::size_t at = from.turn < links ? from.turn : 0;
    for (std::size_t i = 0; i < links; ++i) {
        Link& link = from.links[at];
        if (++at == links) at = 0;
        if ((only_across && !link.across) || !give_to(number, link)) continue;
        from.turn = at;
        return true;
    }
    return false;
}

// There is room at the border of `zone`.
void Swarm::give_across(std::size_t zone)
{
    for (Number number = 0; number < nodes_.size(); ++number)
        if (nodes_[number].zone == zone && lines_[number].gives()) (void)give_some(number, true);
}

bool Swarm::give_to(Number number, Link& link)
{
    const Line& takes = lines_[link.other];
    const double up = lines_[number].up;
    if (takes.held == scenario_.pieces || !takes.has_room(up)) return false;
    const Node& from = nodes_[number];
    const Node& to = nodes_[link.other];
    if (link.across && !borders_.has_room(from.zone, to.zone, now_)) return false;
    std::uint32_t piece = rarest(from, to, true);
    if (piece == none && to.vain > 0) piece = rarest(from, to, false);
    if (piece == none) return false;
    lines_[number].busy = true;
    begin(Event::Kind::sent, number, link.other, piece, up);
    return true;
}

// `to` has room, or may take what it could not: those whose uplinks are free try.
void Swarm::feed(Number number)
{
    Node& to = nodes_[number];
    if (!to.line->alive || to.line->held == scenario_.pieces) return;
    const std::size_t links = to.links.size();
    std::size_t at = links == 0 ? 0 : random_() % links;
    for (std::size_t i = 0; i < links && to.line->inbound < to.line->down; ++i) {
        const Link& link = to.links[at];
        if (++at == links) at = 0;
        if (!lines_[link.other].gives()) continue;
        Link back{.other = number, .across = link.across};
        give_to(link.other, back);
    }
}

// Who asks a silent host waits for it, and then does not ask it again.
void Swarm::ask_in_vain(Number from, Number to)
{
    Node& silent = nodes_[from];
    Node& asks = nodes_[to];
    if (silent.line->conduct != Conduct::silent || silent.line->held == 0 || asks.line->held == scenario_.pieces) return;
    Link* link = asks.link_to(from);
    if (link == nullptr || link->in_vain) return;
    const std::uint32_t piece = rarest(silent, asks, true);
    if (piece == none) return;
    link->in_vain = 1;
    asks.waiting.set(piece);
    ++asks.vain;
    timeline_.add({.kind = Event::Kind::in_vain, .at = now_ + scenario_.in_vain, .from = from, .to = to, .piece = piece});
}

void Swarm::in_vain(const Event& event)
{
    Node& to = nodes_[event.to];
    --to.vain;
    to.waiting.clear(event.piece);
    feed(event.to);
}

// As `to` sees it, of what `from` has and it lacks; `spare`: but for what it waits for.
std::uint32_t Swarm::rarest(const Node& from, const Node& to, bool spare)
{
    std::uint32_t best = none;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    const auto& has = from.announced.words();
    const auto& coming = to.coming.words();
    const PieceSet* const abroad = from.zone == to.zone ? nullptr : &to.abroad[from.zone];
    std::size_t next = random_() % has.size();
    for (std::size_t i = 0; i < has.size(); ++i) {
        const std::size_t word = next;
        if (++next == has.size()) next = 0;
        std::uint64_t bits = has[word] & ~coming[word];
        if (spare && to.vain > 0) bits &= ~to.waiting.words()[word];
        if (abroad != nullptr) bits &= abroad->words()[word];
        for (; bits != 0; bits &= bits - 1) {
            const auto piece = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
            if (to.holders[piece] >= least) continue;
            least = to.holders[piece];
            best = piece;
            if (least <= 1) return best;
        }
    }
    return best;
}

Duration Swarm::time_of(double rate) const
{
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(scenario_.piece_bytes / rate));
}

}  // namespace shoal::sim
