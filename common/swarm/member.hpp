// Who may be connected, and whom to dial. A value.
#pragma once

#include "common/core/ids.hpp"

#include <string>
#include <vector>

namespace shoal::swarm {

enum class Kind { peer, seeder };

// Those who show no member's key: stock BitTorrent clients.
enum class Strangers { kept_out, let_in };

struct Member {
    PeerId peer;
    MemberKey key;
    bool seeder = false;
    bool dial = true;
    std::vector<std::string> endpoints;  // "addr:port"
    bool spreads = true;                 // others can dial it: counted on to hand on what it gets
    bool holds_some = false;             // of the revision, as far as the tracker knows
    std::string zone{};                  // empty: unknown
};

}  // namespace shoal::swarm
