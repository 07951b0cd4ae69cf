// Which files, pieces and bytes of a revision a fetch still has to get. Pure; immutable once made; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"

#include <cstdint>
#include <vector>

namespace shoal::peer {

struct FetchPlan {
    std::vector<bool> wanted;        // by file: what was asked for
    std::vector<bool> kept;          // by file: in its final place already, verified
    std::vector<bool> needed;        // by piece: holds bytes of a wanted file that is not kept
    std::vector<bool> in_place;      // by piece: all of its bytes lie in kept files
    std::vector<FileIndex> staged;   // files to be staged: those that get bytes of needed pieces (neighbours of wanted ones in packs too), and empty ones
    std::uint64_t wanted_bytes = 0;  // of wanted files
    std::uint64_t kept_bytes = 0;    // of wanted files that are kept
};

FetchPlan make_plan(const model::Manifest& manifest, const model::Layout& layout, std::vector<bool> wanted, std::vector<bool> kept);

// Bytes of wanted, not kept files that a piece brings.
std::uint64_t wanted_bytes_of(const FetchPlan& plan, const model::Layout& layout, PieceIndex piece);

}  // namespace shoal::peer
