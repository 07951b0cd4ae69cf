#include "tracker/api.hpp"

#include "tracker/http_answers.hpp"
#include "tracker/live_view.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::string_view prefix = "/api/v1/";

// Parts of the path, each decoded by itself: a name's "/" is encoded.
Result<std::vector<std::string>> split(std::string_view path)
{
    std::vector<std::string> segments;
    while (true) {
        const std::size_t end = path.find('/');
        BOOST_OUTCOME_TRY(segment, net::percent_decode(path.substr(0, end)));
        segments.push_back(std::move(segment));
        if (end == std::string_view::npos) return segments;
        path.remove_prefix(end + 1);
    }
}

}  // namespace

Api::Api(Switchboard& board, Library& library, StockRoutes& stock, std::function<TimePoint()> now)
    : board_{board}, library_{library}, stock_{stock}, now_{std::move(now)}, started_{now_()}
{}

void Api::get(const net::Request& request, const net::Respond& respond)
{
    const auto path = split(std::string_view{request.path}.substr(prefix.size()));
    if (!path) {
        respond(problem(path.error()));
        return;
    }
    const Segments& parts = path.value();
    if (parts[0] == "status" && parts.size() == 1)
        respond(json_answer(status()));
    else if (parts[0] == "models")
        models(request, parts, respond);
    else if (parts[0] == "revisions")
        revisions(request, parts, respond);
    else if (parts[0] == "nodes")
        nodes(request, parts, respond);
    else if (parts[0] == "transfers" && parts.size() == 1)
        transfers(request, respond);
    else if (parts[0] == "events" && parts.size() == 1)
        events(request, respond);
    else
        respond(problem(404, "Not found", "no such page: " + request.path.substr(0, 200)));
}

}  // namespace shoal::tracker
