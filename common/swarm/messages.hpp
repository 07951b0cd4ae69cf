// What Shoal adds to the BitTorrent wire: a dictionary "shoal" in the extension handshake (BEP 10), and a few messages. Pure.
#pragma once

#include "common/core/ids.hpp"
#include "common/swarm/roster.hpp"

#include <libtorrent/fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::swarm {

enum class Word : std::uint8_t {
    again,   // "tell me again what you have": sent when somebody is admitted whose bitfield was not heeded; with a bitfield: of these pieces, by HAVEs
    hungry,  // to a seeder that shows single pieces: nobody gives me anything
    wants,   // to such a seeder: a bitfield of the pieces that are wanted, where that is not all
};
inline constexpr std::size_t words = 3;
using WordIds = std::array<std::uint8_t, words>;  // the numbers under which a side takes them; 0: it does not

// Into the extension handshake: {"shoal": {"v": 1, "id": .., "key": .., "kind": "peer"|"seeder", "dispatch": 1}}, and our numbers of the messages above.
// "dispatch": as a seeder it shows single pieces, as a peer it does not heed that such a seeder has all.
void write_shown(lt::entry& handshake, const Shown& shown);
// Nothing: no Shoal, or a dictionary that does not hold what it must.
std::optional<Shown> read_shown(const lt::bdecode_node& handshake);
WordIds read_words(const lt::bdecode_node& handshake);
// The word whose number of ours that is.
std::optional<Word> word_of(int id);

std::string word_message(std::uint8_t id, std::string_view content = {});
std::string packed(const std::vector<bool>& bits);                                        // as in a bitfield
std::optional<std::vector<bool>> unpacked(std::string_view content, std::size_t pieces);  // none: of another length
std::array<char, 9> have_message(PieceIndex piece);
std::string bitfield_message(const std::vector<bool>& have);
// BEP 6: the request will not be answered, ask again.
std::array<char, 17> reject_message(const lt::peer_request& request);

}  // namespace shoal::swarm
