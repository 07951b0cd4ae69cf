// The digest of every piece of a revision, in piece order. Immutable once checked; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shoal::model {

// 32 bytes a piece; of a swarm file of one piece, its pieces root.
using Layers = std::vector<Digest>;

std::string encode(const Layers& layers);

// Exactly layout.pieces() digests that lead to the swarm files' roots; else integrity, naming the swarm file. Never throws.
Result<Layers> decode_layers(std::string_view bytes, const Layout& layout);

}  // namespace shoal::model
