#include "common/swarm/blame.hpp"

#include <algorithm>
#include <utility>

namespace shoal::swarm {
namespace {

constexpr int part_in_wrong = 2;
constexpr int most_trust = 8;
constexpr int no_trust = -7;
constexpr std::size_t most_attempts = 4;  // remembered of one piece
constexpr std::size_t most_pieces = 64;   // remembered

}  // namespace

void Blame::sent(PieceIndex piece, std::uint32_t block, const PeerId& who)
{
    auto& senders = present_[piece.value];
    if (senders.size() <= block) senders.resize(block + 1);
    senders[block] = who;
}

std::vector<PeerId> Blame::judged(PieceIndex piece, bool right, std::span<const Digest> leaves)
{
    Attempt attempt;
    if (const auto at = present_.find(piece.value); at != present_.end()) {
        attempt.senders = std::move(at->second);
        present_.erase(at);
    }
    if (attempt.senders.size() < leaves.size()) attempt.senders.resize(leaves.size());
    std::set<PeerId> senders{attempt.senders.begin(), attempt.senders.end()};
    const bool all_known = senders.erase(PeerId{}) == 0;
    if (right) return after_right(piece, leaves, senders);
    attempt.leaves.assign(leaves.begin(), leaves.end());
    if (all_known && senders.size() == 1) return {*senders.begin()};
    return after_wrong(piece, std::move(attempt), senders);
}

std::vector<PeerId> Blame::after_wrong(PieceIndex piece, Attempt attempt, const std::set<PeerId>& senders)
{
    std::vector<PeerId> guilty;
    for (const PeerId& sender : senders) {
        int& trust = trust_[sender];
        trust -= part_in_wrong;
        if (trust <= no_trust) guilty.push_back(sender);
    }
    if (wrong_.size() < most_pieces || wrong_.contains(piece.value))
        if (auto& attempts = wrong_[piece.value]; attempts.size() < most_attempts) attempts.push_back(std::move(attempt));
    return guilty;
}

std::vector<PeerId> Blame::after_right(PieceIndex piece, std::span<const Digest> leaves, const std::set<PeerId>& senders)
{
    for (const PeerId& sender : senders) trust_[sender] = std::min(most_trust, trust_[sender] + 1);
    std::set<PeerId> guilty;
    if (const auto at = wrong_.find(piece.value); at != wrong_.end()) {
        for (const Attempt& attempt : at->second)
            for (std::size_t block = 0; block < std::min({leaves.size(), attempt.leaves.size(), attempt.senders.size()}); ++block)
                if (attempt.leaves[block] != leaves[block] && attempt.senders[block] != PeerId{}) guilty.insert(attempt.senders[block]);
        wrong_.erase(at);
    }
    return {guilty.begin(), guilty.end()};
}

}  // namespace shoal::swarm
