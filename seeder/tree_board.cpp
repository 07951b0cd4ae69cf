#include "seeder/tree_board.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace shoal::seeder {
namespace {

using crypto::block_size;
using crypto::run_size;

// How far helpers go ahead: what they read must still be in the page cache when it is read again.
constexpr std::uint64_t window_bytes = 32U << 20U;

// A thread's own buffer for a run: it stays in that core's cache.
MutableBytes run_buffer()
{
    thread_local std::vector<std::byte> buffer(run_size);
    return buffer;
}

}  // namespace

SharedTree::SharedTree(std::uint64_t size, std::uint32_t piece_size, std::shared_ptr<OpenContent> open)
    : size_{size}, piece_size_{piece_size}, width_{crypto::tree_width(size, piece_size)}, open_{std::move(open)}, layer_((size + piece_size - 1) / piece_size)
{}

Result<void> SharedTree::hash(std::size_t piece, Tree wanted, const ReadRun& read)
{
    const std::uint64_t begin = piece * std::uint64_t{piece_size_};
    const std::uint64_t end = std::min(begin + piece_size_, size_);
    std::vector<Digest> leaves(wanted == Tree::yes ? crypto::blocks_in(end - begin) : 0);
    for (std::uint64_t at = begin; at < end; at += run_size) {
        const MutableBytes run = run_buffer().first(std::min<std::uint64_t>(run_size, end - at));
        BOOST_OUTCOME_TRY(read(at, run));
        if (wanted == Tree::yes) crypto::hash_blocks(run, std::span{leaves}.subspan((at - begin) / block_size, crypto::blocks_in(run.size())));
    }
    if (wanted == Tree::yes) layer_[piece] = crypto::tree_root(leaves, width_);
    return success();
}

Result<void> SharedTree::hash(std::size_t piece)
{
    return hash(piece, Tree::yes, [this](std::uint64_t offset, MutableBytes run) { return open_->read(offset, run); });
}

void SharedTree::hash_in_memory(std::size_t piece, ConstBytes bytes)
{
    layer_[piece] = crypto::piece_digest(bytes, width_);
}

crypto::TreeDigest SharedTree::finish()
{
    const Digest root = crypto::root_of_layer(layer_, piece_size_);
    return {std::move(layer_), root};
}

void TreeBoard::show(const std::shared_ptr<SharedTree>& tree)
{
    auto posted = std::make_unique<Posted>();
    posted->tree = tree;
    posted->claimed.resize(tree->pieces());
    const std::lock_guard lock{mutex_};
    posted_.push_back(std::move(posted));
    changed_.notify_all();
}

bool TreeBoard::claim(const SharedTree& tree, std::size_t piece)
{
    const std::lock_guard lock{mutex_};
    Posted& posted = **std::find_if(posted_.begin(), posted_.end(), [&](const auto& one) { return one->tree.get() == &tree; });
    const bool ours = !posted.claimed[piece];
    posted.claimed[piece] = true;
    posted.reached = piece;
    changed_.notify_all();
    return ours;
}

Result<void> TreeBoard::take_down(const std::shared_ptr<SharedTree>& tree)
{
    std::unique_lock lock{mutex_};
    const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const auto& one) { return one->tree == tree; });
    const std::unique_ptr<Posted> posted = std::move(*found);
    posted_.erase(found);  // nobody begins to help any more
    changed_.wait(lock, [&] { return posted->helpers == 0; });
    if (posted->failure) return failure(*posted->failure);
    return success();
}

void TreeBoard::count_done()
{
    const std::lock_guard lock{mutex_};
    --open_;
    changed_.notify_all();
}

Result<void> TreeBoard::help(const std::function<bool()>& ending)
{
    std::unique_lock lock{mutex_};
    while (open_ > 0 && !ending()) {
        const Find found = find();
        if (found.posted == nullptr) {
            changed_.wait_for(lock, std::chrono::milliseconds{100});
            continue;
        }
        found.posted->claimed[found.piece] = true;
        ++found.posted->helpers;
        lock.unlock();
        const auto done = found.posted->tree->hash(found.piece);
        lock.lock();
        if (!done && !found.posted->failure) found.posted->failure = done.error();
        --found.posted->helpers;
        changed_.notify_all();
    }
    return success();
}

// Of the content with most left to do: it will be the last.
TreeBoard::Find TreeBoard::find()
{
    Find best;
    std::size_t most = 0;
    for (const auto& posted : posted_) {
        const std::size_t left = (posted->tree->pieces() - posted->reached) * posted->tree->piece_size();
        const auto piece = next_piece(*posted);
        if (piece && left > most) {
            best = {posted.get(), *piece};
            most = left;
        }
    }
    return best;
}

std::optional<std::size_t> TreeBoard::next_piece(const Posted& posted)
{
    const std::size_t window = std::max<std::size_t>(2, window_bytes / posted.tree->piece_size());
    const std::size_t end = std::min(posted.claimed.size(), posted.reached + 1 + window);
    for (std::size_t piece = posted.reached + 1; piece < end; ++piece)
        if (!posted.claimed[piece]) return piece;
    return std::nullopt;
}

}  // namespace shoal::seeder
