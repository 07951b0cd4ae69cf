// What several trackers say of one swarm, taken together: the union of their neighbours, each tracker's last word. Pure; not thread-safe.
#pragma once

#include "common/core/error.hpp"
#include "common/core/ids.hpp"
#include "common/wire/beat.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::control {

class Neighbourhood {
public:
    // A tracker that stays silent while others speak forty times is gone, and what it said is forgotten. While nobody speaks everything stands.
    void heard(const TrackerId& tracker, const wire::Reply& reply);
    [[nodiscard]] std::vector<wire::Neighbour> neighbours(const RevisionId& revision) const;  // each peer id once
    [[nodiscard]] std::vector<PeerId> seeders(const RevisionId& revision) const;              // that some tracker says serve it
    [[nodiscard]] std::uint32_t origin_copies() const;  // that may leave the origin: the fewest that any tracker allows; 1 when nobody has spoken
    [[nodiscard]] std::optional<std::uint32_t> wanting(const RevisionId& revision) const;  // the largest that any tracker says; none: nobody has spoken
    [[nodiscard]] std::string zone() const;                                                // of this process, that some tracker says; empty: unknown
    [[nodiscard]] bool stock_clients() const;                                              // some tracker says that the operator lets them join
    [[nodiscard]] std::optional<Error> withdrawn(const RevisionId& revision) const;        // by its seeder: not_found or integrity; the first that is told

private:
    struct Word {
        std::map<RevisionId, wire::Swarm> swarms;
        std::string zone;
        std::uint32_t origin_copies = 1;
        bool young = false;
        bool stock_clients = false;
        unsigned silent = 0;  // words of others since
    };
    std::map<TrackerId, Word> said_;
};

}  // namespace shoal::control
