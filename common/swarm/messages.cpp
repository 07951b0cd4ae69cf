#include "common/swarm/messages.hpp"

#include <libtorrent/bdecode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/peer_request.hpp>

#include <cstring>
#include <string_view>

namespace shoal::swarm {
namespace {

constexpr int version = 1;
constexpr std::array<const char*, words> names{"shoal_again", "shoal_hungry", "shoal_wants"};
constexpr int first_id = 40;  // away from libtorrent's own

template <typename Id>
std::string raw(const Id& id)
{
    return {reinterpret_cast<const char*>(id.bytes.data()), Id::size};
}

template <typename Id>
std::optional<Id> id_from(std::string_view bytes)
{
    Id id;
    if (bytes.size() != Id::size) return std::nullopt;
    std::memcpy(id.bytes.data(), bytes.data(), Id::size);
    return id;
}

std::string_view text(const lt::bdecode_node& dict, const char* name)
{
    const auto value = dict.dict_find_string_value(name);
    return {value.data(), value.size()};
}

void put32(char* at, std::uint32_t value)
{
    for (unsigned i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (24 - 8 * i));
}

std::string framed(std::string_view payload)
{
    std::string message(4, '\0');
    put32(message.data(), static_cast<std::uint32_t>(payload.size()));
    return message.append(payload);
}

}  // namespace

void write_shown(lt::entry& handshake, const Shown& shown)
{
    lt::entry& dict = handshake["shoal"];
    dict["v"] = version;
    dict["id"] = raw(shown.peer);
    if (shown.key) dict["key"] = raw(*shown.key);
    dict["kind"] = shown.kind == Kind::seeder ? "seeder" : "peer";
    if (shown.dispatch) dict["dispatch"] = 1;
    for (std::size_t word = 0; word < words; ++word) handshake["m"][names[word]] = first_id + static_cast<int>(word);
}

std::optional<Shown> read_shown(const lt::bdecode_node& handshake)
{
    const lt::bdecode_node dict = handshake.dict_find_dict("shoal");
    if (!dict || dict.dict_find_int_value("v", 0) < version) return std::nullopt;
    const auto peer = id_from<PeerId>(text(dict, "id"));
    if (!peer) return std::nullopt;
    return Shown{
        *peer, id_from<MemberKey>(text(dict, "key")), text(dict, "kind") == "seeder" ? Kind::seeder : Kind::peer, dict.dict_find_int_value("dispatch", 0) == 1};
}

WordIds read_words(const lt::bdecode_node& handshake)
{
    WordIds ids{};
    const lt::bdecode_node messages = handshake.dict_find_dict("m");
    for (std::size_t word = 0; messages && word < words; ++word) {
        const auto number = messages.dict_find_int_value(names[word], 0);
        if (number > 0 && number <= 255) ids[word] = static_cast<std::uint8_t>(number);
    }
    return ids;
}

std::optional<Word> word_of(int id)
{
    if (id < first_id || id >= first_id + static_cast<int>(words)) return std::nullopt;
    return static_cast<Word>(id - first_id);
}

std::string word_message(std::uint8_t id, std::string_view content)
{
    return framed(std::string{'\x14', static_cast<char>(id)}.append(content));
}

std::string packed(const std::vector<bool>& bits)
{
    std::string bytes((bits.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < bits.size(); ++i)
        if (bits[i]) bytes[i / 8] = static_cast<char>(static_cast<unsigned char>(bytes[i / 8]) | 0x80U >> i % 8);
    return bytes;
}

std::optional<std::vector<bool>> unpacked(std::string_view content, std::size_t pieces)
{
    if (content.size() != (pieces + 7) / 8) return std::nullopt;
    std::vector<bool> bits(pieces);
    for (std::size_t i = 0; i < pieces; ++i) bits[i] = (static_cast<unsigned char>(content[i / 8]) & 0x80U >> i % 8) != 0;
    return bits;
}

std::string bitfield_message(const std::vector<bool>& have)
{
    return framed("\x05" + packed(have));
}

std::array<char, 9> have_message(PieceIndex piece)
{
    std::array<char, 9> message{0, 0, 0, 5, 4};
    put32(message.data() + 5, piece.value);
    return message;
}

std::array<char, 17> reject_message(const lt::peer_request& request)
{
    std::array<char, 17> message{0, 0, 0, 13, 16};
    put32(message.data() + 5, static_cast<std::uint32_t>(static_cast<int>(request.piece)));
    put32(message.data() + 9, static_cast<std::uint32_t>(request.start));
    put32(message.data() + 13, static_cast<std::uint32_t>(request.length));
    return message;
}

}  // namespace shoal::swarm
