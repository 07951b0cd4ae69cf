// The extension handshake of another node: what is read of it, written again, reads the same.
#include "common/swarm/messages.hpp"

#include <libtorrent/bdecode.hpp>
#include <libtorrent/bencode.hpp>
#include <libtorrent/entry.hpp>

#include <cstdlib>
#include <iterator>
#include <string>

namespace {

lt::bdecode_node decode(const char* bytes, std::size_t size)
{
    lt::error_code error;
    auto node = lt::bdecode({bytes, static_cast<std::ptrdiff_t>(size)}, error);
    return error || node.type() != lt::bdecode_node::dict_t ? lt::bdecode_node{} : node;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace shoal::swarm;
    const auto handshake = decode(reinterpret_cast<const char*>(data), size);
    if (!handshake) return 0;
    static_cast<void>(read_words(handshake));
    const auto shown = read_shown(handshake);
    if (!shown) return 0;
    lt::entry written{lt::entry::dictionary_t};
    write_shown(written, *shown);
    std::string bytes;
    lt::bencode(std::back_inserter(bytes), written);
    const auto again = read_shown(decode(bytes.data(), bytes.size()));
    if (!again || again->peer != shown->peer || again->key != shown->key || again->kind != shown->kind) std::abort();
    return 0;
}
