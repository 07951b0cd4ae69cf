// Where a swarm's bytes are read from and written to. A seam: the peer has files, the seeder an object store.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"
#include "common/core/result.hpp"

#include <cstdint>

namespace shoal::swarm {

// Called from disk threads, several at once; never two writes of the same bytes at once.
class PieceStorage {
public:
    PieceStorage() = default;
    PieceStorage(const PieceStorage&) = delete;
    PieceStorage& operator=(const PieceStorage&) = delete;
    virtual ~PieceStorage() = default;

    // out.size() bytes at `offset` of the piece, inside it.
    virtual Result<void> read(PieceIndex piece, std::uint32_t offset, MutableBytes out) = 0;
    virtual Result<void> write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes) = 0;
};

}  // namespace shoal::swarm
