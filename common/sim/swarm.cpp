#include "common/sim/swarm.hpp"

#include "common/sim/outcome.hpp"

#include <algorithm>

namespace shoal::sim {
namespace {

constexpr Duration tick_every = std::chrono::milliseconds{100};
constexpr Duration look_every = std::chrono::milliseconds{500};
constexpr Duration hungry_after = std::chrono::seconds{2};  // without a piece, while none is on its way

}  // namespace

Swarm::Swarm(const Scenario& scenario) : scenario_{scenario}, random_{scenario.seed}, graph_{scenario_, random_}, origin_{scenario_}, borders_{scenario_}
{
    add_hosts();
    add(Event::Kind::tick, {}, nobody);
}

void Swarm::add_hosts()
{
    for (const Host& host : scenario_.hosts) lines_.push_back({.up = host.up, .down = host.down, .conduct = host.conduct});
    holders_.resize(lines_.size() * scenario_.pieces);
    nodes_.reserve(scenario_.hosts.size());
    for (const Host& host : scenario_.hosts) {
        const auto number = static_cast<Number>(nodes_.size());
        nodes_.emplace_back(host, graph_.add_host(number), scenario_.pieces, &lines_[number], &holders_[std::size_t{number} * scenario_.pieces]);
        nodes_.back().zone = borders_.number_of(host.zone);
        seeder_has_company_ |= host.zone == scenario_.seeder_zone;
        add(Event::Kind::join, host.joins, number);
        ++joins_;
        if (host.dies) add(Event::Kind::die, *host.dies, number);
    }
    if (!has_zones()) return;
    for (Node& node : nodes_) {
        node.abroad.assign(borders_.zones(), PieceSet{scenario_.pieces});
        node.filter.emplace(node.id, node.host->zone, scenario_.pieces, scenario_.zones);
        node.filter->shown_by({{PeerId{}, seeder_has_company_ ? scenario_.seeder_zone : std::string{}}});
    }
}

Outcome Swarm::run()
{
    while (!timeline_.empty() && !is_over()) {
        const Event event = timeline_.take();
        if (event.at - TimePoint{} > scenario_.end) break;
        now_ = event.at;
        happen(event);
    }
    Outcome outcome = outcome_of(scenario_, nodes_);
    const double bytes = static_cast<double>(scenario_.pieces) * scenario_.piece_bytes;
    outcome.copies = static_cast<double>(origin_.bytes()) / bytes;
    outcome.busiest_second = origin_.busiest_second();
    outcome.busiest_read = origin_.busiest_read();
    outcome.overruns = origin_.overruns();
    outcome.crossed = static_cast<double>(borders_.crossed()) / bytes;
    outcome.transfers = transfers_;
    return outcome;
}

void Swarm::happen(const Event& event)
{
    switch (event.kind) {
    case Event::Kind::join: return join(event.to);
    case Event::Kind::die: return die(event.to);
    case Event::Kind::forget: return graph_.forget(nodes_[event.to]);
    case Event::Kind::beat: return beat(event.to);
    case Event::Kind::tick: return tick();
    case Event::Kind::sent: return sent(event);
    case Event::Kind::seeder_sent: return seeder_sent(event);
    case Event::Kind::read: return send();
    case Event::Kind::known: return known(event);
    case Event::Kind::in_vain: return in_vain(event);
    }
}

void Swarm::join(Number number)
{
    Node& node = nodes_[number];
    --joins_;
    ++living_;
    node.line->alive = true;
    node.gained = now_;
    if (has_zones()) know_zone_mate(number, true);
    beat(number);
}

// Its connections end at once; the hand-out hears nothing.
void Swarm::die(Number number)
{
    Node& node = nodes_[number];
    if (!node.line->alive) return;
    node.line->alive = false;
    --living_;
    if (node.outcome.took) --complete_;
    leave_seeder(number);
    unlink_all(number);
    if (has_zones()) know_zone_mate(number, false);
    add(Event::Kind::forget, 2 * scenario_.beat, number);
    seed();
}

void Swarm::beat(Number number)
{
    if (!lines_[number].alive) return;
    graph_.beat(nodes_[number], now_);
    add(Event::Kind::beat, scenario_.beat - Duration{random_() % static_cast<std::uint64_t>(scenario_.beat.count() / 10)}, number);
}

void Swarm::tick()
{
    rewire();
    if (now_ - looked_ >= look_every) {
        looked_ = now_;
        look_for_hungry();
        if (has_zones()) widen_borders();
    }
    seed();
    add(Event::Kind::tick, tick_every, nobody);
}

void Swarm::rewire()
{
    for (const auto& [host, neighbours] : graph_.changed()) {
        if (host == nobody) {
            rewire_seeder(neighbours);
            continue;
        }
        std::vector<Number> ended;
        for (const Link& each : nodes_[host].links)
            if (std::find(neighbours.begin(), neighbours.end(), each.other) == neighbours.end()) ended.push_back(each.other);
        for (const Number other : ended) unlink(host, other);
        for (const Number other : neighbours)
            if (other != nobody) link(host, other);
    }
}

void Swarm::rewire_seeder(const std::vector<Number>& neighbours)
{
    const std::set<Number> wanted(neighbours.begin(), neighbours.end());
    for (const Number number : std::set<Number>{beside_seeder_})
        if (!wanted.contains(number)) leave_seeder(number);
    for (const Number number : wanted) {
        Node& node = nodes_[number];
        if (!node.line->alive || node.beside_seeder || (seeder_has_company_ && node.host->zone != scenario_.seeder_zone)) continue;
        node.beside_seeder = true;
        beside_seeder_.insert(number);
        origin_.dispatch().joined(number, {.spreads = node.host->dialable}, now_);
        for (std::uint32_t piece = 0; piece < scenario_.pieces; ++piece)
            if (node.announced.test(piece)) origin_.dispatch().has(number, {piece}, now_);
    }
}

void Swarm::leave_seeder(Number number)
{
    Node& node = nodes_[number];
    if (!node.beside_seeder) return;
    node.beside_seeder = false;
    beside_seeder_.erase(number);
    origin_.dispatch().left(number);
}

void Swarm::look_for_hungry()
{
    for (const Number number : beside_seeder_) {
        const Node& node = nodes_[number];
        if (node.line->held < scenario_.pieces && node.line->inbound < 1 && now_ - node.gained >= hungry_after) origin_.dispatch().hungry(number, now_);
    }
}

Outcome play(const Scenario& scenario)
{
    return Swarm{scenario}.run();
}

}  // namespace shoal::sim
