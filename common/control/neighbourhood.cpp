#include "common/control/neighbourhood.hpp"

#include <algorithm>
#include <set>

namespace shoal::control {
namespace {

constexpr unsigned words_of_others = 40;  // beats are a few seconds apart: a minute or more

// What two trackers say of one peer: the better of each.
void merge(wire::Neighbour& mine, const wire::Neighbour& other)
{
    mine.dial = mine.dial || other.dial;
    mine.complete = mine.complete || other.complete;
    mine.dialable = mine.dialable || other.dialable;
    mine.holds_some = mine.holds_some || other.holds_some;
    if (mine.zone.empty()) mine.zone = other.zone;
    mine.nearness = std::min(mine.nearness, other.nearness);
    if (mine.key.is_zero()) mine.key = other.key;
    for (const std::string& endpoint : other.endpoints) {
        if (std::find(mine.endpoints.begin(), mine.endpoints.end(), endpoint) == mine.endpoints.end()) mine.endpoints.push_back(endpoint);
    }
}

}  // namespace

void Neighbourhood::heard(const TrackerId& tracker, const wire::Reply& reply)
{
    if (!reply.refusal.empty() || reply.need_full) return;  // such a reply says nothing of swarms
    Word word;
    word.zone = reply.zone;
    word.origin_copies = reply.origin_copies;
    word.young = reply.young;
    word.stock_clients = reply.stock_clients;
    for (const wire::Swarm& swarm : reply.swarms) word.swarms.insert_or_assign(swarm.revision, swarm);
    said_.insert_or_assign(tracker, std::move(word));
    for (auto& [id, other] : said_) {
        if (id != tracker) ++other.silent;
    }
    std::erase_if(said_, [](const auto& one) { return one.second.silent > words_of_others; });
}

std::vector<wire::Neighbour> Neighbourhood::neighbours(const RevisionId& revision) const
{
    std::map<PeerId, wire::Neighbour> all;
    for (const auto& [tracker, word] : said_) {
        const auto swarm = word.swarms.find(revision);
        if (swarm == word.swarms.end()) continue;
        for (const wire::Neighbour& neighbour : swarm->second.neighbours) {
            const auto [mine, is_new] = all.emplace(neighbour.peer, neighbour);
            if (!is_new) merge(mine->second, neighbour);
        }
    }
    std::vector<wire::Neighbour> neighbours;
    neighbours.reserve(all.size());
    for (auto& [peer, neighbour] : all) neighbours.push_back(std::move(neighbour));
    return neighbours;
}

std::vector<PeerId> Neighbourhood::seeders(const RevisionId& revision) const
{
    std::set<PeerId> all;
    for (const auto& [tracker, word] : said_) {
        const auto swarm = word.swarms.find(revision);
        if (swarm != word.swarms.end()) all.insert(swarm->second.seeders.begin(), swarm->second.seeders.end());
    }
    return {all.begin(), all.end()};
}

std::uint32_t Neighbourhood::origin_copies() const
{
    const auto fewer = [](const auto& a, const auto& b) { return a.second.origin_copies < b.second.origin_copies; };
    const auto fewest = std::min_element(said_.begin(), said_.end(), fewer);
    return fewest == said_.end() ? 1 : fewest->second.origin_copies;
}

std::optional<std::uint32_t> Neighbourhood::wanting(const RevisionId& revision) const
{
    std::optional<std::uint32_t> most;
    for (const auto& [tracker, word] : said_) {
        const auto swarm = word.swarms.find(revision);
        const bool unknown = swarm == word.swarms.end() || (word.young && swarm->second.wanting == 0);  // it has not heard of all yet
        if (!unknown) most = std::max(most.value_or(0), swarm->second.wanting);
    }
    return most;
}

std::string Neighbourhood::zone() const
{
    const auto known = std::find_if(said_.begin(), said_.end(), [](const auto& said) { return !said.second.zone.empty(); });
    return known == said_.end() ? std::string{} : known->second.zone;
}

bool Neighbourhood::stock_clients() const
{
    return std::any_of(said_.begin(), said_.end(), [](const auto& one) { return one.second.stock_clients; });
}

std::optional<Error> Neighbourhood::withdrawn(const RevisionId& revision) const
{
    for (const auto& [tracker, word] : said_) {
        const auto swarm = word.swarms.find(revision);
        if (swarm == word.swarms.end() || swarm->second.withdrawn.empty()) continue;
        return Error{swarm->second.missing ? Errc::not_found : Errc::integrity, swarm->second.withdrawn, {}};
    }
    return std::nullopt;
}

}  // namespace shoal::control
