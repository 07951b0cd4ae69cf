// Names of things as types of their own, so that they do not mix. Values; any thread.
#pragma once

#include "common/core/result.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace shoal {

// An integer that only mixes with its own kind.
template <typename Tag, typename Rep>
struct Strong {
    Rep value{};
    auto operator<=>(const Strong&) const = default;
};

using PieceIndex = Strong<struct PieceTag, std::uint32_t>;      // a piece of a revision, over all its swarm files
using FileIndex = Strong<struct FileTag, std::uint32_t>;        // a file, in the manifest's order
using SwarmFileIndex = Strong<struct SwarmTag, std::uint32_t>;  // a swarm file, in the torrent's order

// N bytes that are an identity. `Tag` keeps kinds apart.
template <typename Tag, std::size_t N>
struct Opaque {
    static constexpr std::size_t size = N;
    std::array<std::uint8_t, N> bytes{};
    auto operator<=>(const Opaque&) const = default;
    [[nodiscard]] bool is_zero() const { return *this == Opaque{}; }
};

using Digest = Opaque<struct DigestTag, 32>;        // a SHA-256
using RevisionId = Opaque<struct RevisionTag, 32>;  // SHA-256 of a manifest's bytes
using PeerId = Opaque<struct PeerTag, 16>;          // a process in the swarm; random
using MemberKey = Opaque<struct MemberTag, 16>;     // what admits a process to its neighbours; random, a secret of the cluster
using TrackerId = Opaque<struct TrackerTag, 16>;    // a tracker process; random
using InfoHash = Opaque<struct InfoHashTag, 32>;    // BEP 52 v2 info hash

// Lower-case hex of bytes, and back; from_hex fails with malformed unless `text` is exactly that.
std::string to_hex(const std::uint8_t* bytes, std::size_t size);
bool from_hex(std::string_view text, std::uint8_t* out, std::size_t size);

template <typename Tag, std::size_t N>
std::string to_hex(const Opaque<Tag, N>& id)
{
    return to_hex(id.bytes.data(), N);
}

template <typename Id>
Result<Id> id_from_hex(std::string_view text)
{
    Id id;
    if (!from_hex(text, id.bytes.data(), Id::size))
        return failure(Errc::malformed, "not " + std::to_string(2 * Id::size) + " lower-case hex digits: '" + std::string{text.substr(0, 100)} + "'");
    return id;
}

// "sha256:<64 hex>", the only way people and files write a revision; parse fails with invalid.
std::string to_string(const RevisionId& revision);
Result<RevisionId> parse_revision(std::string_view text);

}  // namespace shoal

template <typename Tag, std::size_t N>
struct std::hash<shoal::Opaque<Tag, N>> {
    std::size_t operator()(const shoal::Opaque<Tag, N>& id) const noexcept
    {
        std::size_t value = 0;  // ids are random or digests: their first bytes are a hash
        std::memcpy(&value, id.bytes.data(), sizeof value);
        return value;
    }
};
