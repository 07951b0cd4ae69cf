#include "common/crypto/block_tree.hpp"

#include "common/crypto/sha256.hpp"
#include "common/crypto/sha256_lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace shoal::crypto {
namespace {

ConstBytes bytes_of(std::span<const Digest> digests)
{
    static_assert(sizeof(Digest) == Digest::size);  // so that a row of digests is a row of messages
    return std::as_bytes(digests);
}

Digest parent_of(const Digest& left, const Digest& right)
{
    const std::array pair{left, right};
    return sha256(bytes_of(pair));
}

// Root over `nodes`, padded by `padding` to `width`. Whole padded subtrees are not built: `padding` rises with the levels.
Digest fold(std::vector<Digest> nodes, std::size_t width, Digest padding)
{
    std::vector<Digest> parents;
    for (; width > 1; width /= 2) {
        if (nodes.size() % 2 != 0) nodes.push_back(padding);
        parents.resize(nodes.size() / 2);
        hash_messages(bytes_of(nodes), 2 * Digest::size, parents);
        std::swap(nodes, parents);
        if (nodes.size() < width / 2) padding = parent_of(padding, padding);
    }
    return nodes.front();
}

// Root of a tree of `width` zero leaves.
Digest zero_root(std::size_t width)
{
    Digest root;
    for (; width > 1; width /= 2) root = parent_of(root, root);
    return root;
}

}  // namespace

void hash_blocks(ConstBytes data, std::span<Digest> leaves)
{
    const std::size_t whole = data.size() / block_size;
    hash_messages(data.first(whole * block_size), block_size, leaves.first(whole));
    if (whole < leaves.size()) leaves[whole] = sha256(data.subspan(whole * block_size));
}

Digest tree_root(std::span<const Digest> leaves, std::size_t width)
{
    return fold({leaves.begin(), leaves.end()}, width, Digest{});
}

std::size_t tree_width(std::uint64_t file_size, std::uint32_t piece_size)
{
    return file_size > piece_size ? piece_size / block_size : std::bit_ceil(blocks_in(file_size));
}

Digest root_of_layer(std::span<const Digest> layer, std::uint32_t piece_size)
{
    if (layer.size() == 1) return layer.front();
    return fold({layer.begin(), layer.end()}, std::bit_ceil(layer.size()), zero_root(piece_size / block_size));
}

Digest piece_digest(ConstBytes piece, std::size_t width)
{
    std::vector<Digest> leaves(blocks_in(piece.size()));
    hash_blocks(piece, leaves);
    return tree_root(leaves, width);
}

LayerBuilder::LayerBuilder(std::uint64_t file_size, std::uint32_t piece_size) : width_(tree_width(file_size, piece_size))
{
    pending_.reserve(width_);
}

void LayerBuilder::add(std::span<const Digest> leaves)
{
    while (!leaves.empty()) {
        const std::size_t taken = std::min(leaves.size(), width_ - pending_.size());
        pending_.insert(pending_.end(), leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(taken));
        leaves = leaves.subspan(taken);
        if (pending_.size() < width_) return;
        layer_.push_back(tree_root(pending_, width_));
        pending_.clear();
    }
}

std::vector<Digest> LayerBuilder::take_layer()
{
    if (!pending_.empty()) layer_.push_back(tree_root(pending_, width_));
    pending_.clear();
    return std::exchange(layer_, {});
}

}  // namespace shoal::crypto
