// Who sent the wrong bytes of a piece. Pure. Not thread-safe.
#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace shoal::swarm {

class Blame {
public:
    // `who` sent this block of the piece, in the present attempt to get it.
    void sent(PieceIndex piece, std::uint32_t block, const PeerId& who);

    // The attempt is over: `leaves` are the digests of what was received, one a block. Returns who lied for certain or is trusted no more:
    // the only sender of a wrong piece; the senders of those blocks of wrong attempts that differ from the right piece, once that is there;
    // and who had a part in so many wrong pieces, without as many right ones, that waiting for proof costs more than doing without it.
    std::vector<PeerId> judged(PieceIndex piece, bool right, std::span<const Digest> leaves);

private:
    struct Attempt {
        std::vector<PeerId> senders;  // by block; zero: unknown
        std::vector<Digest> leaves;
    };
    std::vector<PeerId> after_wrong(PieceIndex piece, Attempt attempt, const std::set<PeerId>& senders);
    std::vector<PeerId> after_right(PieceIndex piece, std::span<const Digest> leaves, const std::set<PeerId>& senders);

    std::unordered_map<std::uint32_t, std::vector<PeerId>> present_;
    std::map<std::uint32_t, std::vector<Attempt>> wrong_;  // pieces that came wrong and have not come right yet
    std::unordered_map<PeerId, int> trust_;
};

}  // namespace shoal::swarm
