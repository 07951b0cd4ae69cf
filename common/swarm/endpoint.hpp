// "addr:port" as people and trackers write it. Pure.
#pragma once

#include <libtorrent/socket.hpp>

#include <optional>
#include <string>

namespace shoal::swarm {

// "1.2.3.4:6881", "[::1]:6881"; nothing for what is not an address and a port.
std::optional<lt::tcp::endpoint> parse_endpoint(const std::string& text);
std::string text_of(const lt::tcp::endpoint& endpoint);

}  // namespace shoal::swarm
