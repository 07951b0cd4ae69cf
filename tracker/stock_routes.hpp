// /announce and /scrape for stock BitTorrent clients, where the operator allows them. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/net/http.hpp"
#include "tracker/announces.hpp"
#include "tracker/library.hpp"
#include "tracker/switchboard.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace shoal::tracker {

enum class StockClients { refused, allowed };

class StockRoutes {
public:
    StockRoutes(StockClients policy, Switchboard& board, Library& library, std::function<void()> told, std::function<TimePoint()> now);

    [[nodiscard]] bool allowed() const { return policy_ == StockClients::allowed; }
    void announce(const net::Request& request, const net::Respond& respond);
    void scrape(const net::Request& request, const net::Respond& respond);
    void know(const Summary& summary, const RevisionId& revision);  // its torrent has been handed out, or it is live
    void tick();                                                    // forgets clients that are silent; learns the info hashes of live swarms

    static net::Response refusal();

private:
    void take(const net::Request& request, const RevisionId& revision, const std::string& peer_id);
    [[nodiscard]] SwarmCounts counts(const RevisionId& revision) const;
    [[nodiscard]] std::vector<std::string> endpoints_for(const RevisionId& revision, const PeerId& asker, std::size_t most);

    StockClients policy_;
    Switchboard& board_;
    std::function<void()> told_;  // held replies may be due
    std::function<TimePoint()> now_;
    Announces announces_;
    std::map<RevisionId, std::string> models_;  // of known revisions
    std::set<RevisionId> asked_;                // whose summary was asked for
    std::size_t turn_ = 0;                      // who is handed out first goes round
    Library& library_;
};

}  // namespace shoal::tracker
