#include "seeder/content_hashing.hpp"

#include "seeder/tree_board.hpp"

#include <algorithm>
#include <numeric>

namespace shoal::seeder {
namespace {

using crypto::ContentDigest;

constexpr std::uint64_t read_ahead = 8U << 20U;
constexpr unsigned far_passages = 8;  // each holds up to 32 MiB

// Goes through one content in order; its tree is shared with helpers.
class Passage {
public:
    Passage(Crew& crew, const Content& content, std::uint32_t piece_size, TreeBoard* board)
        : crew_{crew}, content_{content}, piece_size_{piece_size}, board_{board}
    {}

    Result<ContentDigest> run()
    {
        BOOST_OUTCOME_TRY(open, content_.open());
        if (content_.size == 0) {
            BOOST_OUTCOME_TRY(open->check());
            return ContentDigest{{}, flat_.finish()};
        }
        const auto tree = std::make_shared<SharedTree>(content_.size, piece_size_, open);
        if (board_ != nullptr && tree->pieces() > 1) board_->show(tree);
        auto read = read_all(*tree, *open);
        if (board_ != nullptr && tree->pieces() > 1) {
            const auto helped = board_->take_down(tree);
            if (read && !helped) read = helped;
        }
        BOOST_OUTCOME_TRY(read);
        BOOST_OUTCOME_TRY(open->check());
        return ContentDigest{tree->finish(), flat_.finish()};
    }

private:
    Result<void> read_all(SharedTree& tree, OpenContent& open)
    {
        for (std::size_t piece = 0; piece < tree.pieces(); ++piece) {
            if (crew_.ending()) return failure(Crew::given_up());
            const bool ours = board_ == nullptr || tree.pieces() == 1 || board_->claim(tree, piece);
            BOOST_OUTCOME_TRY(
                tree.hash(piece, ours ? SharedTree::Tree::yes : SharedTree::Tree::no, [&](std::uint64_t offset, MutableBytes run) -> Result<void> {
                    if (offset >= expected_) {
                        open.expect(offset, 2 * read_ahead);
                        expected_ = offset + read_ahead;
                    }
                    BOOST_OUTCOME_TRY(open.read(offset, run));
                    flat_.update(run);
                    crew_.count(run.size());
                    return success();
                }));
        }
        return success();
    }

    Crew& crew_;
    const Content& content_;
    std::uint32_t piece_size_;
    TreeBoard* board_;
    crypto::Sha256 flat_;
    std::uint64_t expected_ = 0;
};

// Large ones first, so that the threads end together.
std::vector<std::size_t> by_size(const std::vector<Content>& contents)
{
    std::vector<std::size_t> order(contents.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return contents[a].size > contents[b].size; });
    return order;
}

}  // namespace

Result<void> hash_contents(Crew& crew, const std::vector<Content>& contents, std::uint32_t piece_size, Help help, const HashSink& sink)
{
    const std::vector<std::size_t> order = by_size(contents);
    TreeBoard board{contents.size()};
    const bool helped = help == Help::yes && crew.threads() > 1;
    const bool far = std::any_of(contents.begin(), contents.end(), [](const Content& content) { return content.far; });
    const auto work = [&](std::size_t turn) -> Result<void> {
        if (turn >= order.size()) return board.help([&] { return crew.ending(); });
        const std::size_t index = order[turn];
        auto done = sink(index, Passage{crew, contents[index], piece_size, helped ? &board : nullptr}.run());
        board.count_done();
        return done;
    };
    return crew.run(contents.size() + (helped ? crew.threads() - 1 : 0), work, far ? far_passages : 0);
}

Result<crypto::TreeDigest> hash_tree(Crew& crew, ConstBytes bytes, std::uint32_t piece_size)
{
    SharedTree tree{bytes.size(), piece_size, nullptr};
    BOOST_OUTCOME_TRY(crew.run(tree.pieces(), [&](std::size_t piece) -> Result<void> {
        tree.hash_in_memory(piece, bytes.subspan(piece * piece_size, std::min<std::size_t>(piece_size, bytes.size() - piece * piece_size)));
        return success();
    }));
    return tree.finish();
}

ContentDigest hash_small(ConstBytes bytes, std::uint32_t piece_size)
{
    const Digest flat = crypto::sha256(bytes);
    if (bytes.empty()) return {{}, flat};
    if (bytes.size() <= crypto::block_size) return {{{flat}, flat}, flat};  // the tree of one block is its digest
    SharedTree tree{bytes.size(), piece_size, nullptr};
    for (std::size_t piece = 0; piece < tree.pieces(); ++piece)
        tree.hash_in_memory(piece, bytes.subspan(piece * piece_size, std::min<std::size_t>(piece_size, bytes.size() - piece * piece_size)));
    return {tree.finish(), flat};
}

}  // namespace shoal::seeder
