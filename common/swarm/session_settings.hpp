// libtorrent's settings for a cluster of machines that trust their tracker. Pure.
#pragma once

#include <libtorrent/fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace shoal::swarm {

struct SessionOptions;

lt::settings_pack cluster_settings(const SessionOptions& options);

// A peer hands on all that its socket holds before it heeds that the disk is behind. So connections share one budget: bytes for each one's receive buffer,
// and blocks that may be on their way to it.
struct ReceiveShare {
    int bytes = 0;
    int requests = 0;
    bool operator==(const ReceiveShare&) const = default;
};
ReceiveShare receive_share(std::size_t neighbours);
lt::settings_pack receive_settings(const ReceiveShare& share);

}  // namespace shoal::swarm
