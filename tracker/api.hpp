// The read side of the JSON API under /api/v1: what is published, who holds and wants it, what moves. On the loop; never a member's key.
#pragma once

#include "common/core/clock.hpp"
#include "common/net/http.hpp"
#include "tracker/http_answers.hpp"
#include "tracker/library.hpp"
#include "tracker/stock_routes.hpp"
#include "tracker/switchboard.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace shoal::tracker {

class Api {
public:
    Api(Switchboard& board, Library& library, StockRoutes& stock, std::function<TimePoint()> now);

    void get(const net::Request& request, const net::Respond& respond);  // a path below /api/v1/

private:
    using Segments = std::vector<std::string>;  // of the path after /api/v1/, decoded

    void models(const net::Request& request, const Segments& path, const net::Respond& respond);
    void list_models(const Page& page, const net::Respond& respond);
    void model(const std::string& name, const net::Respond& respond);
    [[nodiscard]] nlohmann::json describe_model(
        const std::string& name, const objectstore::Listing<RevisionId>& ids, const objectstore::Listing<objectstore::TagRecord>& records) const;
    void tag(const std::string& name, const std::string& tag, const net::Respond& respond);
    void revision_of_model(const std::string& name, const RevisionId& revision, const net::Respond& respond);

    void revisions(const net::Request& request, const Segments& path, const net::Respond& respond);
    void revision(const RevisionId& revision, const Page& page, const net::Respond& respond);
    void torrent(const RevisionId& revision, const std::string& host, const net::Respond& respond);
    [[nodiscard]] nlohmann::json describe(const RevisionId& revision, const Summary* summary, const Page& page) const;

    [[nodiscard]] nlohmann::json status() const;
    void nodes(const net::Request& request, const Segments& path, const net::Respond& respond);
    [[nodiscard]] nlohmann::json node(const std::string& name, const std::vector<const Member*>& members) const;
    void events(const net::Request& request, const net::Respond& respond) const;
    void transfers(const net::Request& request, const net::Respond& respond) const;

    Switchboard& board_;
    Library& library_;
    StockRoutes& stock_;
    std::function<TimePoint()> now_;
    TimePoint started_;
};

}  // namespace shoal::tracker
