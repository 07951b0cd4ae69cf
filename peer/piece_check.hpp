// Hashes pieces that lie in files against their digests, on all cores within bounded memory. Blocking; any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/result.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/swarm/piece_storage.hpp"

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

namespace shoal::peer {

struct PieceCheck {
    std::vector<bool> good;                                // by piece; of those that were asked for
    std::vector<std::pair<PieceIndex, Error>> unreadable;  // the first hundred
    std::vector<std::pair<PieceIndex, Digest>> wrong;      // and what was found
};

using PieceSink = std::function<Result<void>(PieceIndex, ConstBytes)>;  // from several threads at once

// Checks the pieces that `which` names. A good piece's bytes go to `sink`, if there is one, as they were hashed; its first error ends the check.
// `cancelled` turns true: interrupted, soon.
Result<PieceCheck> check_pieces(const model::Layout& layout, const model::Layers& layers, swarm::PieceStorage& storage, const std::vector<bool>& which,
    const std::atomic<bool>& cancelled, const PieceSink& sink = {});

// Digest of one piece's bytes, as the layers have it.
Digest digest_of(const model::Layout& layout, PieceIndex piece, ConstBytes bytes);

}  // namespace shoal::peer
