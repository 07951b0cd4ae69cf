// How many connected members hold each piece, and what follows from it. Pure. Not thread-safe.
#pragma once

#include "common/core/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal::swarm {

class Availability {
public:
    // `have`: what we hold; `want`: by piece.
    Availability(std::vector<bool> have, std::vector<bool> want);

    void gained(PieceIndex piece);  // we verified it
    void added(PieceIndex piece);   // one more member holds it
    void removed(PieceIndex piece);

    [[nodiscard]] const std::vector<bool>& have() const { return have_; }
    [[nodiscard]] const std::vector<bool>& want() const { return want_; }
    [[nodiscard]] bool wants_all() const { return std::find(want_.begin(), want_.end(), false) == want_.end(); }
    [[nodiscard]] bool wanted(PieceIndex piece) const { return want_[piece.value]; }
    [[nodiscard]] bool missing(PieceIndex piece) const { return want_[piece.value] && !have_[piece.value]; }
    [[nodiscard]] bool held_by_others(PieceIndex piece) const { return holders_[piece.value] > 0; }
    [[nodiscard]] bool complete() const { return missing_ == 0; }         // all that is wanted is here
    [[nodiscard]] std::uint32_t only_ours() const { return only_ours_; }  // held by us and by no member
    [[nodiscard]] std::uint32_t nobodys() const { return nobodys_; }      // wanted, held by nobody

private:
    void count(PieceIndex piece, int sign);  // the piece's share of the two numbers
    std::vector<bool> have_;
    std::vector<bool> want_;
    std::vector<std::uint16_t> holders_;
    std::uint32_t missing_ = 0;
    std::uint32_t only_ours_ = 0;
    std::uint32_t nobodys_ = 0;
};

}  // namespace shoal::swarm
