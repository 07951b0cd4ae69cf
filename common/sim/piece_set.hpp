// A set of pieces, by words, so that two sets are compared 64 pieces at a time. A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::sim {

class PieceSet {
public:
    explicit PieceSet(std::size_t pieces = 0) : words_((pieces + 63) / 64) {}
    [[nodiscard]] bool test(std::uint32_t piece) const { return (words_[piece / 64] >> (piece % 64) & 1U) != 0; }
    void set(std::uint32_t piece) { words_[piece / 64] |= std::uint64_t{1} << (piece % 64); }
    void clear(std::uint32_t piece) { words_[piece / 64] &= ~(std::uint64_t{1} << (piece % 64)); }
    [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

private:
    std::vector<std::uint64_t> words_;
};

}  // namespace shoal::sim
