// Who of several is answerable for a piece, by rendezvous hashing: all who know the same candidates agree, and when one goes only its pieces change hands. Pure.
#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::policy {

// The highest bids.
std::uint64_t bid(const PeerId& peer, PieceIndex piece);
std::uint64_t bid(std::string_view zone, PieceIndex piece);

// By piece: whether `own` outbids all of `others`.
std::vector<bool> share_of(const PeerId& own, const std::vector<PeerId>& others, std::uint32_t pieces);

}  // namespace shoal::policy
