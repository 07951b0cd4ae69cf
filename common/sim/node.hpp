// A host in the midst of a simulation. A value.
#pragma once

#include "common/core/ids.hpp"
#include "common/policy/zone_filter.hpp"
#include "common/sim/piece_set.hpp"
#include "common/sim/scenario.hpp"
#include "common/sim/timeline.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace shoal::sim {

struct Link {
    Number other = nobody;
    bool across = false;         // a border
    bool in_vain = false;        // it is silent, and was asked
    std::uint64_t received = 0;  // bytes since the last beat
};

struct alignas(64) Node {
    Node(const Host& its_host, const PeerId& its_id, std::size_t pieces)
        : up{its_host.up},
          down{its_host.down},
          silent{its_host.conduct == Conduct::silent},
          holders(pieces),
          host{&its_host},
          id{its_id},
          announced{pieces},
          coming{pieces},
          waiting{pieces}
    {}

    // What its neighbours look at for each piece that moves stands together, in the first bytes.
    double up, down;     // bytes/s
    double inbound = 0;  // bytes/s that are being sent to it
    std::uint32_t held = 0;
    bool alive = false;
    bool up_busy = false;
    bool silent;
    std::vector<Link> links;
    std::vector<std::uint16_t> holders;  // among its neighbours, by piece

    const Host* host;
    PeerId id;
    PieceSet announced;            // it has them, and its neighbours may ask for them
    PieceSet coming;               // it has them, or they are on their way to it
    PieceSet waiting;              // asked of a silent host: others give them only when nothing else is left to give
    std::vector<PieceSet> abroad;  // by zone: may come from there
    std::vector<Number> banned;
    std::size_t zone = 0;
    std::optional<policy::ZoneFilter> filter;  // where there are zones
    std::size_t vain = 0;                      // silent hosts that it waits for
    std::size_t turn = 0;
    bool beside_seeder = false;
    TimePoint gained;  // last
    HostOutcome outcome;

    Link* link_to(Number other)
    {
        const auto found = std::find_if(links.begin(), links.end(), [other](const Link& link) { return link.other == other; });
        return found == links.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool gives() const { return alive && !up_busy && held > 0 && !silent; }
    // Whether another sender's bytes fit into its downlink. One always does, at what the downlink carries.
    [[nodiscard]] bool has_room(double rate) const { return inbound < down * 0.001 || inbound + rate <= down * 1.001; }
};

}  // namespace shoal::sim
