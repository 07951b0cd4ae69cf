#include "tracker/announces.hpp"

#include "tracker/address.hpp"

#include <algorithm>

namespace shoal::tracker {
namespace {

std::string text(std::string_view value)
{
    return std::to_string(value.size()) + ":" + std::string{value};
}

std::string number(std::size_t value)
{
    return "i" + std::to_string(value) + "e";
}

std::string raw(const ShortInfoHash& hash)
{
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

void append_compact(std::string& out, const Endpoint& endpoint)
{
    const auto& bytes = endpoint.address.bytes;
    out.append(bytes.begin() + (endpoint.address.is_v4() ? 12 : 0), bytes.end());
    out.push_back(static_cast<char>(endpoint.port >> 8U));
    out.push_back(static_cast<char>(endpoint.port & 0xffU));
}

}  // namespace

ShortInfoHash shorten(const InfoHash& hash)
{
    ShortInfoHash first;
    std::copy_n(hash.bytes.begin(), first.size(), first.begin());
    return first;
}

bool Announces::announce(const RevisionId& revision, const Stranger& client, TimePoint now)
{
    auto& swarm = swarms_[revision];
    const bool known = swarm.contains(client.peer);
    if (!known && (swarm.size() >= per_swarm || clients_ >= in_all)) {
        if (swarm.empty()) swarms_.erase(revision);
        return false;
    }
    clients_ += known ? 0 : 1;
    swarm[client.peer] = {client, now + slowest + 2 * interval};
    return true;
}

void Announces::stop(const RevisionId& revision, const PeerId& client)
{
    const auto swarm = swarms_.find(revision);
    if (swarm == swarms_.end()) return;
    clients_ -= swarm->second.erase(client);
    if (swarm->second.empty()) swarms_.erase(swarm);
}

std::vector<RevisionId> Announces::expire(TimePoint now)
{
    std::vector<RevisionId> changed;
    for (auto& [revision, swarm] : swarms_) {
        const std::size_t ended = std::erase_if(swarm, [now](const auto& entry) { return entry.second.until < now; });
        clients_ -= ended;
        if (ended > 0) changed.push_back(revision);
    }
    std::erase_if(swarms_, [](const auto& swarm) { return swarm.second.empty(); });
    return changed;
}

std::vector<Stranger> Announces::of(const RevisionId& revision) const
{
    std::vector<Stranger> clients;
    const auto swarm = swarms_.find(revision);
    if (swarm == swarms_.end()) return clients;
    for (const auto& [peer, entry] : swarm->second) clients.push_back(entry.client);
    return clients;
}

std::optional<RevisionId> Announces::find(const ShortInfoHash& hash) const
{
    const auto known = revisions_.find(hash);
    return known == revisions_.end() ? std::nullopt : std::optional{known->second};
}

std::string announce_answer(const SwarmCounts& counts, Duration interval, const std::vector<std::string>& endpoints)
{
    std::string peers;
    std::string peers6;
    for (const std::string& each : endpoints) {
        if (const auto parsed = parse_endpoint(each)) append_compact(parsed->address.is_v4() ? peers : peers6, *parsed);
    }
    const auto seconds = static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::seconds>(interval).count());
    return "d" + text("complete") + number(counts.complete) + text("incomplete") + number(counts.incomplete) + text("interval") + number(seconds) +
           text("min interval") + number(1) + text("peers") + text(peers) + text("peers6") + text(peers6) + "e";
}

std::string scrape_answer(const std::map<ShortInfoHash, SwarmCounts>& swarms)
{
    std::string files;
    for (const auto& [hash, counts] : swarms) {
        files += text(raw(hash)) + "d" + text("complete") + number(counts.complete) + text("downloaded") + number(0) + text("incomplete") +
                 number(counts.incomplete) + "e";
    }
    return "d" + text("files") + "d" + files + "ee";
}

std::string failure_answer(const std::string& reason)
{
    return "d" + text("failure reason") + text(reason) + "e";
}

}  // namespace shoal::tracker
