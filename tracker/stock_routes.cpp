#include "tracker/stock_routes.hpp"

#include "tracker/address.hpp"
#include "tracker/http_answers.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::size_t default_wanted = 50;
constexpr std::size_t most_wanted = 200;
constexpr Duration soon = std::chrono::seconds{5};  // nobody has all yet: ask again

net::Response bencoded(const std::string& body)
{
    return {.status = 200, .content_type = "text/plain; charset=iso-8859-1", .body = body, .headers = {{"Cache-Control", "no-store"}}};
}

// All values of a key, as bytes.
std::vector<std::string> values(std::string_view query, std::string_view key)
{
    std::vector<std::string> found;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        if (!pair.starts_with(key) || pair.size() <= key.size() || pair[key.size()] != '=') continue;
        if (auto decoded = net::percent_decode(pair.substr(key.size() + 1))) found.push_back(std::move(decoded.value()));
    }
    return found;
}

std::optional<ShortInfoHash> as_hash(const std::string& bytes)
{
    ShortInfoHash hash;
    if (bytes.size() != hash.size()) return std::nullopt;
    std::copy(bytes.begin(), bytes.end(), hash.begin());
    return hash;
}

std::uint64_t number(const net::Request& request, const char* key, std::uint64_t otherwise)
{
    const auto value = request.query.find(key);
    if (value == request.query.end()) return otherwise;
    std::uint64_t number = otherwise;
    const auto [end, error] = std::from_chars(value->second.data(), value->second.data() + value->second.size(), number);
    return error == std::errc{} ? number : otherwise;
}

// The random part of the 20 bytes that a client calls itself.
PeerId id_of(const std::string& peer_id)
{
    PeerId id;
    std::copy_n(peer_id.end() - static_cast<std::ptrdiff_t>(PeerId::size), PeerId::size, id.bytes.begin());
    return id;
}

}  // namespace

StockRoutes::StockRoutes(StockClients policy, Switchboard& board, Library& library, std::function<void()> told, std::function<TimePoint()> now)
    : policy_{policy}, board_{board}, told_{std::move(told)}, now_{std::move(now)}, library_{library}
{}

net::Response StockRoutes::refusal()
{
    return problem(403, "Not allowed", "this swarm admits only its members; start the tracker with --allow-stock-clients");
}

void StockRoutes::know(const Summary& summary, const RevisionId& revision)
{
    announces_.know(summary.info_hash, revision);
    models_[revision] = summary.model;
}

void StockRoutes::announce(const net::Request& request, const net::Respond& respond)
{
    if (!allowed()) {
        respond(refusal());
        return;
    }
    const auto hashes = values(request.raw_query, "info_hash");
    const auto ids = values(request.raw_query, "peer_id");
    const auto hash = hashes.empty() ? std::nullopt : as_hash(hashes.front());
    if (!hash || ids.empty() || ids.front().size() != 20) {
        respond(bencoded(failure_answer("info_hash and peer_id of 20 bytes each are needed")));
        return;
    }
    const auto revision = announces_.find(*hash);
    if (!revision) {
        respond(bencoded(failure_answer("unknown info hash; take the torrent from /api/v1/revisions/HEX/torrent")));
        return;
    }
    take(request, *revision, ids.front());
    const SwarmCounts there = counts(*revision);
    const auto wanted = std::min<std::size_t>(number(request, "numwant", default_wanted), most_wanted);
    respond(bencoded(announce_answer(there, there.complete > 0 ? Announces::interval : soon, endpoints_for(*revision, id_of(ids.front()), wanted))));
    told_();
}

void StockRoutes::take(const net::Request& request, const RevisionId& revision, const std::string& peer_id)
{
    const auto address = parse_address(request.remote);
    const std::uint64_t port = number(request, "port", 0);
    const auto event = request.query.find("event");
    if (event != request.query.end() && event->second == "stopped") {
        announces_.stop(revision, id_of(peer_id));
    } else if (address && port > 0 && port <= 65535) {
        const Stranger client{id_of(peer_id), endpoint(*address, static_cast<std::uint16_t>(port)), number(request, "left", 1) == 0};
        announces_.announce(revision, client, now_());
    }
    board_.set_strangers(revision, models_[revision], announces_.of(revision), now_());
}

void StockRoutes::scrape(const net::Request& request, const net::Respond& respond)
{
    if (!allowed()) {
        respond(refusal());
        return;
    }
    std::map<ShortInfoHash, SwarmCounts> swarms;
    for (const std::string& bytes : values(request.raw_query, "info_hash")) {
        const auto hash = as_hash(bytes);
        const auto revision = hash ? announces_.find(*hash) : std::nullopt;
        if (revision) swarms[*hash] = counts(*revision);
    }
    respond(bencoded(scrape_answer(swarms)));
}

void StockRoutes::tick()
{
    if (!allowed()) return;
    for (const RevisionId& revision : announces_.expire(now_())) board_.set_strangers(revision, models_[revision], announces_.of(revision), now_());
    for (const auto& [revision, swarm] : board_.swarms()) {
        if (!asked_.insert(revision).second) continue;
        library_.summary(revision, [this, revision = revision](const Result<std::shared_ptr<const Summary>>& summary) {
            if (summary)
                know(*summary.value(), revision);
            else
                asked_.erase(revision);
        });
    }
}

SwarmCounts StockRoutes::counts(const RevisionId& revision) const
{
    SwarmCounts counts;
    const auto swarm = board_.swarms().find(revision);
    if (swarm == board_.swarms().end()) return counts;
    counts.incomplete = swarm->second.wanting();
    const auto& strangers = swarm->second.strangers;
    const auto whole = std::count_if(strangers.begin(), strangers.end(), [](const Stranger& each) { return each.complete; });
    counts.complete = swarm->second.handout.complete() + swarm->second.handout.seeders() + static_cast<std::size_t>(whole);
    return counts;
}

// Seeders first, then members from a place that goes round, then other stock clients.
std::vector<std::string> StockRoutes::endpoints_for(const RevisionId& revision, const PeerId& asker, std::size_t most)
{
    std::vector<std::string> seeders;
    std::vector<std::string> peers;
    const auto swarm = board_.swarms().find(revision);
    if (swarm == board_.swarms().end()) return {};
    for (const PeerId& id : swarm->second.members) {
        const Member* member = board_.roster().find(id);
        const wire::Holding* holding = board_.roster().find(id, revision);
        if (member == nullptr || holding == nullptr || !member->dialable) continue;
        if (!member->is_seeder())
            peers.push_back(member->endpoints.front());
        else if (holding->state == wire::HoldState::held)
            seeders.push_back(member->endpoints.front());
    }
    if (!peers.empty()) std::rotate(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(turn_++ % peers.size()), peers.end());
    seeders.insert(seeders.end(), peers.begin(), peers.end());
    for (const Stranger& stranger : swarm->second.strangers) {
        if (stranger.peer != asker) seeders.push_back(stranger.endpoint);
    }
    if (seeders.size() > most) seeders.resize(most);
    return seeders;
}

}  // namespace shoal::tracker
