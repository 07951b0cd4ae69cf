#include "common/crypto/content_hasher.hpp"

#include <algorithm>

namespace shoal::crypto {

TreeHasher::TreeHasher(std::uint64_t size, std::uint32_t piece_size) : piece_size_(piece_size), builder_(size, piece_size) {}

void TreeHasher::update(ConstBytes bytes)
{
    if (!rest_.empty()) {
        const std::size_t taken = std::min(bytes.size(), run_size - rest_.size());
        rest_.insert(rest_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
        bytes = bytes.subspan(taken);
        if (rest_.size() < run_size) return;
        hash(rest_);
        rest_.clear();
    }
    const std::size_t whole = bytes.size() / run_size * run_size;
    hash(bytes.first(whole));
    rest_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
}

void TreeHasher::hash(ConstBytes bytes)
{
    leaves_.resize(blocks_in(bytes.size()));
    hash_blocks(bytes, leaves_);
    builder_.add(leaves_);
}

TreeDigest TreeHasher::finish()
{
    hash(rest_);
    rest_.clear();
    TreeDigest digest{builder_.take_layer(), {}};
    if (!digest.layer.empty()) digest.pieces_root = root_of_layer(digest.layer, piece_size_);
    return digest;
}

ContentHasher::ContentHasher(std::uint64_t size, std::uint32_t piece_size) : one_block_(size > 0 && size <= block_size), tree_(size, piece_size) {}

void ContentHasher::update(ConstBytes bytes)
{
    while (!bytes.empty()) {
        const ConstBytes run = bytes.first(std::min(bytes.size(), run_size));
        if (!one_block_) tree_.update(run);
        flat_.update(run);
        bytes = bytes.subspan(run.size());
    }
}

ContentDigest ContentHasher::finish()
{
    const Digest flat = flat_.finish();
    return {one_block_ ? TreeDigest{{flat}, flat} : tree_.finish(), flat};
}

}  // namespace shoal::crypto
