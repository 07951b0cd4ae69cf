// /api/v1/revisions: a revision's manifest and layers, and who holds it.
#include "common/obs/log.hpp"
#include "tracker/api.hpp"
#include "tracker/http_answers.hpp"
#include "tracker/live_view.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace shoal::tracker {
namespace {

using nlohmann::json;

// A revision's bytes never change, but only those that are its own may be kept by others.
Library::Done<std::string> as_bytes_answer(const net::Respond& respond, const std::string& content_type)
{
    return [respond, content_type](const Result<std::shared_ptr<const std::string>>& content) {
        respond(content ? bytes_answer(content_type, *content.value(), Caching::none) : problem(content.error()));
    };
}

json describe_holder(const Member& member, const wire::Holding& holding)
{
    return {{"peer", to_hex(member.id())}, {"node", member.node()}, {"zone", member.place.zone}, {"rack", member.place.rack},
        {"role", member.is_seeder() ? "seeder" : "peer"}, {"state", name_of(holding.state)}, {"bytes_have", holding.bytes_have},
        {"bytes_total", holding.bytes_total}, {"from_origin", holding.from_origin}, {"from_peers", holding.from_peers}, {"sent", holding.sent},
        {"rate", holding.rate}, {"trouble", holding.trouble}};
}

// Keys of a sorted list: those that lack part first, so that the first page shows whether it is in use.
std::vector<std::string> holder_keys(const Roster& roster, const RevisionId& revision, const Swarm& swarm)
{
    std::vector<std::string> keys;
    for (const PeerId& peer : swarm.members) {
        const wire::Holding* holding = roster.find(peer, revision);
        if (holding != nullptr) keys.push_back((is_lacking(holding->state) ? "0-" : "1-") + to_hex(peer));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace

void Api::revisions(const net::Request& request, const Segments& path, const net::Respond& respond)
{
    const auto id = id_from_hex<RevisionId>(path.size() > 1 ? path[1] : "");
    const auto page = page_of(request);
    if (!id || !page) {
        respond(problem(id ? page.error() : id.error()));
        return;
    }
    const std::string what = path.size() == 3 ? path[2] : "";
    if (path.size() == 2)
        revision(id.value(), page.value(), respond);
    else if (what == "manifest")
        library_.manifest(id.value(), as_bytes_answer(respond, "application/json"));
    else if (what == "layers")
        library_.layers(id.value(), as_bytes_answer(respond, "application/octet-stream"));
    else if (what == "torrent")
        torrent(id.value(), request.headers.contains("host") ? request.headers.at("host") : std::string{}, respond);
    else
        respond(problem(404, "Not found", "no such page below /api/v1/revisions"));
}

void Api::revision(const RevisionId& revision, const Page& page, const net::Respond& respond)
{
    library_.summary(revision, [this, revision, page, respond](const Result<std::shared_ptr<const Summary>>& summary) {
        const bool damaged = !summary && summary.error().code == Errc::integrity;  // who holds it matters all the same
        if (!summary && !damaged && !board_.swarms().contains(revision)) {
            respond(problem(summary.error()));
            return;
        }
        json said = describe(revision, summary ? summary.value().get() : nullptr, page);
        if (!summary) said["trouble"] = summary.error().text();
        respond(json_answer(said));
    });
}

void Api::torrent(const RevisionId& revision, const std::string& host, const net::Respond& respond)
{
    if (!stock_.allowed()) {
        respond(StockRoutes::refusal());
        return;
    }
    library_.summary(revision, [this, revision, host, respond](const Result<std::shared_ptr<const Summary>>& summary) {
        if (!summary) {
            respond(problem(summary.error()));
            return;
        }
        stock_.know(*summary.value(), revision);
        library_.torrent(revision, [host, respond](const Result<std::shared_ptr<const std::string>>& torrent) {
            if (!torrent) {
                respond(problem(torrent.error()));
                return;
            }
            const std::string url = "http://" + host + "/announce";
            const std::string announce = host.empty() ? "" : "8:announce" + std::to_string(url.size()) + ":" + url;  // sorts before "info"
            respond(bytes_answer("application/x-bittorrent", "d" + announce + torrent.value()->substr(1), Caching::none));
        });
    });
}

// Without a summary: what live processes say of it.
json Api::describe(const RevisionId& revision, const Summary* summary, const Page& page) const
{
    json said{{"revision", to_string(revision)}, {"complete_picture", !board_.young(now_())}};
    if (summary != nullptr) {
        said["model"] = summary->model;
        said["bytes"] = summary->bytes;
        said["files"] = summary->files;
        said["piece_size"] = summary->piece_size;
        said["pieces"] = summary->pieces;
        said["data_version"] = summary->data_version;
        said["transform_version"] = summary->transform_version;
    }
    const auto swarm = board_.swarms().find(revision);
    const NodeCounts counts = swarm == board_.swarms().end() ? NodeCounts{} : count_nodes(board_.roster(), revision, swarm->second);
    said["ready_nodes"] = counts.ready;
    said["fetching_nodes"] = counts.fetching;
    said["seeders"] = swarm == board_.swarms().end() ? 0 : swarm->second.handout.seeders();
    if (swarm != board_.swarms().end() && summary == nullptr) {
        said["model"] = swarm->second.model;
        said["bytes"] = swarm->second.bytes;
    }
    if (page.limit == 0) return said;
    json holders = json::array();
    Slice shown;
    if (swarm != board_.swarms().end()) {
        shown = slice(holder_keys(board_.roster(), revision, swarm->second), page);
        for (const std::string& key : shown.keys) {
            const PeerId peer = id_from_hex<PeerId>(std::string_view{key}.substr(2)).value();
            holders.push_back(describe_holder(*board_.roster().find(peer), *board_.roster().find(peer, revision)));
        }
    }
    said["nodes"] = std::move(holders);
    said["next"] = shown.next;
    return said;
}

}  // namespace shoal::tracker
