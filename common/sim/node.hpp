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
    std::uint32_t across : 1 = 0;     // a border
    std::uint32_t in_vain : 1 = 0;    // it is silent, and was asked
    std::uint32_t received : 30 = 0;  // pieces since the last beat
};

// What a host's neighbours look at for each piece that moves; apart from the rest of it, so that those of 10 000 hosts stay in the processor's cache.
struct Line {
    double up, down;     // bytes/s
    double inbound = 0;  // bytes/s that are being sent to it
    std::uint32_t held = 0;
    bool alive = false;
    bool busy = false;  // its uplink
    Conduct conduct = Conduct::honest;

    [[nodiscard]] bool gives() const { return alive && !busy && held > 0 && conduct != Conduct::silent; }
    // Whether another sender's bytes fit into its downlink. One always does, at what the downlink carries.
    [[nodiscard]] bool has_room(double rate) const { return inbound < down * 0.001 || inbound + rate <= down * 1.001; }
};

struct alignas(64) Node {  // of which the first line of the cache is looked at most
    Node(const Host& its_host, const PeerId& its_id, std::size_t pieces, Line* its_line, std::uint8_t* its_holders)
        : line{its_line}, holders{its_holders}, delay{its_host.delay}, host{&its_host}, id{its_id}, announced{pieces}, coming{pieces}, waiting{pieces}
    {}

    Line* line;
    std::uint8_t* holders;  // among its neighbours, by piece
    std::vector<Link> links;
    Duration delay;  // that its link adds, one way
    std::size_t zone = 0;
    std::size_t vain = 0;  // silent hosts that it waits for

    const Host* host;
    PeerId id;
    PieceSet announced;            // it has them, and its neighbours may ask for them
    PieceSet coming;               // it has them, or they are on their way to it
    PieceSet waiting;              // asked of a silent host: others give them only when nothing else is left to give
    std::vector<PieceSet> abroad;  // by zone: may come from there
    std::vector<Number> banned;
    std::optional<policy::ZoneFilter> filter;  // where there are zones
    std::size_t turn = 0;
    bool beside_seeder = false;
    TimePoint gained;  // last
    HostOutcome outcome;

    Link* link_to(Number other)
    {
        const auto found = std::find_if(links.begin(), links.end(), [other](const Link& link) { return link.other == other; });
        return found == links.end() ? nullptr : &*found;
    }
};

}  // namespace shoal::sim
