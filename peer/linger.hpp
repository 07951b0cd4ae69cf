// How long a fetch that is ready stays in the swarm. Pure; any thread.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>
#include <optional>

namespace shoal::peer {

inline constexpr Duration longest_auto_linger = std::chrono::seconds{5};

struct LingerFacts {
    Duration lingered{};
    int needing_us = 0;                    // connected peers that lack a piece which only we have among those connected
    std::optional<std::uint32_t> wanting;  // live processes without all of it, by the trackers; none: nobody has said
};

// `wish`: a fixed time; none: as long as somebody needs us, 5 s at most.
bool may_leave(const std::optional<Duration>& wish, const LingerFacts& facts);

}  // namespace shoal::peer
