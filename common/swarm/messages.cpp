#include "common/swarm/messages.hpp"

#include <libtorrent/bdecode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/peer_request.hpp>

#include <cstring>
#include <string_view>

namespace shoal::swarm {
namespace {

constexpr int version = 1;
constexpr const char* again_name = "shoal_again";

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
    handshake["m"][again_name] = again_id;
}

std::optional<Shown> read_shown(const lt::bdecode_node& handshake)
{
    const lt::bdecode_node dict = handshake.dict_find_dict("shoal");
    if (!dict || dict.dict_find_int_value("v", 0) < version) return std::nullopt;
    const auto peer = id_from<PeerId>(text(dict, "id"));
    if (!peer) return std::nullopt;
    return Shown{*peer, id_from<MemberKey>(text(dict, "key")), text(dict, "kind") == "seeder" ? Kind::seeder : Kind::peer};
}

std::uint8_t read_again_id(const lt::bdecode_node& handshake)
{
    const lt::bdecode_node messages = handshake.dict_find_dict("m");
    const auto number = messages ? messages.dict_find_int_value(again_name, 0) : 0;
    return number > 0 && number <= 255 ? static_cast<std::uint8_t>(number) : std::uint8_t{0};
}

std::string again_message(std::uint8_t id)
{
    return framed(std::string{'\x14', static_cast<char>(id)});
}

std::string bitfield_message(const std::vector<bool>& have)
{
    std::string payload(1 + (have.size() + 7) / 8, '\0');
    payload[0] = '\x05';
    for (std::size_t i = 0; i < have.size(); ++i)
        if (have[i]) payload[1 + i / 8] = static_cast<char>(static_cast<unsigned char>(payload[1 + i / 8]) | 0x80U >> i % 8);
    return framed(payload);
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
