// /api/v1/status, nodes, transfers and events: who is there, what moves and what happened.
#include "tracker/api.hpp"
#include "tracker/http_answers.hpp"
#include "tracker/live_view.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace shoal::tracker {
namespace {

using nlohmann::json;

double seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

json describe_holding(const wire::Holding& holding)
{
    return {{"model", holding.model}, {"revision", to_string(holding.revision)}, {"state", name_of(holding.state)}, {"bytes_have", holding.bytes_have},
        {"bytes_total", holding.bytes_total}, {"from_origin", holding.from_origin}, {"from_peers", holding.from_peers}, {"sent", holding.sent},
        {"rate", holding.rate}, {"trouble", holding.trouble}};
}

json describe_workload(const wire::Workload& workload)
{
    return {{"namespace", workload.pod_namespace}, {"pod", workload.pod_name}, {"uid", workload.pod_uid}, {"workload", workload.workload}};
}

json describe_process(const Member& member, TimePoint now)
{
    json holdings = json::array();
    for (const auto& [revision, holding] : member.holdings) holdings.push_back(describe_holding(holding));
    return {{"peer", to_hex(member.id())}, {"role", member.is_seeder() ? "seeder" : "peer"}, {"software", member.beat.software},
        {"endpoints", member.endpoints}, {"dialable", member.dialable}, {"labels", member.beat.labels}, {"workload", describe_workload(member.beat.workload)},
        {"seconds_since_beat", member.waits ? 0.0 : seconds(now - member.heard)}, {"holdings", std::move(holdings)}};
}

}  // namespace

json Api::status() const
{
    const Roster& roster = board_.roster();
    const auto nodes = by_node(roster);
    std::size_t seeders = 0;
    std::uint64_t rate = 0;
    for (const auto& [id, member] : roster.members()) {
        seeders += member.is_seeder() ? 1 : 0;
        for (const auto& [revision, holding] : member.holdings) rate += member.is_seeder() ? 0 : holding.rate;
    }
    std::size_t wanted = 0;
    for (const auto& [revision, swarm] : board_.swarms()) wanted += swarm.wanting() > 0 ? 1 : 0;
    return {{"tracker", to_hex(board_.id())}, {"version", SHOAL_VERSION}, {"protocol", wire::protocol_version}, {"uptime_seconds", seconds(now_() - started_)},
        {"complete_picture", !board_.young(now_())}, {"beat_seconds", seconds(board_.beat())}, {"store", library_.url()}, {"nodes", nodes.size()},
        {"processes", roster.members().size()}, {"seeders", seeders}, {"revisions", board_.swarms().size()}, {"revisions_wanted", wanted}, {"rate", rate},
        {"oldest_beat_seconds", seconds(oldest_beat(roster, now_()))}, {"stock_clients", stock_.allowed()}};
}

void Api::nodes(const net::Request& request, const Segments& path, const net::Respond& respond)
{
    const auto page = page_of(request);
    const auto all = by_node(board_.roster());
    if (!page || path.size() > 2) {
        respond(page ? problem(404, "Not found", "no such page below /api/v1/nodes") : problem(page.error()));
    } else if (path.size() == 2) {
        const auto found = all.find(path[1]);
        respond(found == all.end() ? problem(404, "Not found", "node: " + path[1].substr(0, 255) + ": no live process says it is there")
                                   : json_answer(node(found->first, found->second)));
    } else {
        std::vector<std::string> names;
        names.reserve(all.size());
        for (const auto& [name, members] : all) names.push_back(name);
        const Slice shown = slice(names, page.value());
        json list = json::array();
        for (const std::string& name : shown.keys) list.push_back(node(name, all.at(name)));
        respond(json_answer({{"nodes", std::move(list)}, {"next", shown.next}, {"complete_picture", !board_.young(now_())}}));
    }
}

json Api::node(const std::string& name, const std::vector<const Member*>& members) const
{
    json processes = json::array();
    for (const Member* member : members) processes.push_back(describe_process(*member, now_()));
    const Place& place = members.front()->place;
    return {{"node", name}, {"zone", place.zone}, {"rack", place.rack}, {"state", state_of(members)}, {"peers", std::move(processes)}};
}

void Api::transfers(const net::Request& request, const net::Respond& respond) const
{
    const auto page = page_of(request);
    if (!page) {
        respond(problem(page.error()));
        return;
    }
    std::map<std::string, std::pair<const Member*, const wire::Holding*>> moving;
    for (const auto& [id, member] : board_.roster().members()) {
        if (member.is_seeder()) continue;
        for (const auto& [revision, holding] : member.holdings) {
            if (is_lacking(holding.state)) moving.emplace(to_hex(id) + "-" + to_hex(revision), std::pair{&member, &holding});
        }
    }
    std::vector<std::string> keys;
    keys.reserve(moving.size());
    for (const auto& [key, transfer] : moving) keys.push_back(key);
    const Slice shown = slice(keys, page.value());
    json list = json::array();
    for (const std::string& key : shown.keys) {
        const auto& [member, holding] = moving.at(key);
        json entry = describe_holding(*holding);
        entry.update({{"peer", to_hex(member->id())}, {"node", member->node()}, {"zone", member->place.zone}, {"rack", member->place.rack},
            {"workload", describe_workload(member->beat.workload)}});
        list.push_back(std::move(entry));
    }
    respond(json_answer({{"transfers", std::move(list)}, {"next", shown.next}, {"complete_picture", !board_.young(now_())}}));
}

// Oldest first; the cursor is the number of the last one seen.
void Api::events(const net::Request& request, const net::Respond& respond) const
{
    const auto page = page_of(request);
    if (!page) {
        respond(problem(page.error()));
        return;
    }
    const std::uint64_t seen = std::strtoull(page.value().cursor.c_str(), nullptr, 10);
    json list = json::array();
    std::string next;
    for (const Happening& each : board_.journal().happenings()) {
        if (each.number <= seen) continue;
        if (list.size() == page.value().limit) break;
        const auto ago = std::chrono::duration_cast<std::chrono::milliseconds>(now_() - each.at).count();
        json entry{
            {"number", each.number}, {"event", each.what}, {"seconds_ago", static_cast<double>(ago) / 1000}, {"peer", to_hex(each.peer)}, {"node", each.node}};
        if (!each.revision.is_zero()) entry.update({{"model", each.model}, {"revision", to_string(each.revision)}, {"trouble", each.trouble}});
        list.push_back(std::move(entry));
        next = std::to_string(each.number);
    }
    respond(json_answer({{"events", std::move(list)}, {"next", next}}));
}

}  // namespace shoal::tracker
