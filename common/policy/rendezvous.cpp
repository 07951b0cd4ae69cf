#include "common/policy/rendezvous.hpp"

#include <algorithm>
#include <cstddef>

namespace shoal::policy {
namespace {

// Byte by byte, so that all machines agree.
std::uint64_t eight_bytes(const PeerId& peer, std::size_t from)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{peer.bytes[from + i]} << (8 * i);
    return value;
}

// The finalizer of SplitMix64: every bit of who bids and of the piece's number tells.
std::uint64_t mix(std::uint64_t low, std::uint64_t high, PieceIndex piece)
{
    std::uint64_t mixed = low ^ (high + 0x9e3779b97f4a7c15U * (std::uint64_t{piece.value} + 1));
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

}  // namespace

std::uint64_t bid(const PeerId& peer, PieceIndex piece)
{
    return mix(eight_bytes(peer, 0), eight_bytes(peer, 8), piece);
}

std::uint64_t bid(std::string_view zone, PieceIndex piece)
{
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const char each : zone) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    return mix(hash, zone.size(), piece);
}

std::vector<bool> share_of(const PeerId& own, const std::vector<PeerId>& others, std::uint32_t pieces)
{
    std::vector<bool> share(pieces);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        const std::uint64_t mine = bid(own, {piece});
        share[piece] = std::none_of(others.begin(), others.end(), [&](const PeerId& other) { return other != own && bid(other, {piece}) > mine; });
    }
    return share;
}

}  // namespace shoal::policy
