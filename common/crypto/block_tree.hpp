// The hash tree of BEP 52: SHA-256 over blocks of 16 KiB, padded with zero digests to a power of two. Pure; any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::crypto {

inline constexpr std::size_t block_size = 16384;

constexpr std::size_t blocks_in(std::uint64_t bytes)
{
    return static_cast<std::size_t>((bytes + block_size - 1) / block_size);
}

// The leaves of `data`, whose last block may be short. leaves.size() == blocks_in(data.size()).
// Sixteen whole blocks at once where the processor has AVX-512BW (0.4 s/GB instead of 0.8), else OpenSSL block by block.
void hash_blocks(ConstBytes data, std::span<Digest> leaves);

// Root over the leaves of one piece: padded with zero leaves to `width` of them, a power of two >= leaves.size() >= 1.
Digest tree_root(std::span<const Digest> leaves, std::size_t width);

// What a piece's digest is padded to: all blocks of a piece in a file of more than one piece, else the next power of two of the file's blocks.
std::size_t tree_width(std::uint64_t file_size, std::uint32_t piece_size);

// Pieces root of a file from the digests of its pieces (BEP 52 "pieces root"). One digest: that one. layer.size() >= 1.
Digest root_of_layer(std::span<const Digest> layer, std::uint32_t piece_size);

// Digest of one whole piece's bytes; `width` as from tree_width.
Digest piece_digest(ConstBytes piece, std::size_t width);

// Leaves of a file or pack, fed in order, to its layer and root. Not thread-safe.
class LayerBuilder {
public:
    LayerBuilder(std::uint64_t file_size, std::uint32_t piece_size);
    void add(std::span<const Digest> leaves);
    [[nodiscard]] std::vector<Digest> take_layer();  // once all leaves are in: ceil(size / piece size) digests
private:
    std::size_t width_;
    std::vector<Digest> pending_;
    std::vector<Digest> layer_;
};

}  // namespace shoal::crypto
