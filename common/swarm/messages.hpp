// What Shoal adds to the BitTorrent wire: a dictionary "shoal" in the extension handshake (BEP 10), and one message. Pure.
#pragma once

#include "common/core/ids.hpp"
#include "common/swarm/roster.hpp"

#include <libtorrent/fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::swarm {

// "Tell me again what you have": sent when somebody is admitted whose bitfield was not heeded. Without content.
inline constexpr int again_id = 40;  // our number for it; away from libtorrent's own

// Into the extension handshake: {"shoal": {"v": 1, "id": .., "key": .., "kind": "peer"|"seeder"}}, and the number of the message above.
void write_shown(lt::entry& handshake, const Shown& shown);
// Nothing: no Shoal, or a dictionary that does not hold what it must.
std::optional<Shown> read_shown(const lt::bdecode_node& handshake);
// The other side's number for the message above; 0: it has none.
std::uint8_t read_again_id(const lt::bdecode_node& handshake);

std::string again_message(std::uint8_t id);
std::string bitfield_message(const std::vector<bool>& have);
// BEP 6: the request will not be answered, ask again.
std::array<char, 17> reject_message(const lt::peer_request& request);

}  // namespace shoal::swarm
