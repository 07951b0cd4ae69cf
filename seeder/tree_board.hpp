// The trees that are being computed, where idle threads find pieces to help with. TreeBoard: any thread. SharedTree: different pieces from different threads.
#pragma once

#include "common/crypto/block_tree.hpp"
#include "common/crypto/content_hasher.hpp"
#include "seeder/content.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace shoal::seeder {

// The tree of one content, piece by piece in any order.
class SharedTree {
public:
    enum class Tree { yes, no };
    using ReadRun = std::function<Result<void>(std::uint64_t offset, MutableBytes run)>;

    SharedTree(std::uint64_t size, std::uint32_t piece_size, std::shared_ptr<OpenContent> open);  // size > 0
    [[nodiscard]] std::size_t pieces() const { return layer_.size(); }
    [[nodiscard]] std::uint32_t piece_size() const { return piece_size_; }
    // Reads the piece run by run, and computes its digest if asked to.
    Result<void> hash(std::size_t piece, Tree wanted, const ReadRun& read);
    Result<void> hash(std::size_t piece);  // reads by itself
    void hash_in_memory(std::size_t piece, ConstBytes bytes);
    [[nodiscard]] crypto::TreeDigest finish();  // when every piece has been hashed

private:
    std::uint64_t size_;
    std::uint32_t piece_size_;
    std::size_t width_;
    std::shared_ptr<OpenContent> open_;
    std::vector<Digest> layer_;
};

class TreeBoard {
public:
    explicit TreeBoard(std::size_t contents) : open_{contents} {}  // how many will be counted done

    void show(const std::shared_ptr<SharedTree>& tree);
    // The thread that goes through the tree reaches `piece`: true if it is to hash it, false if somebody has.
    [[nodiscard]] bool claim(const SharedTree& tree, std::size_t piece);
    Result<void> take_down(const std::shared_ptr<SharedTree>& tree);  // waits for its helpers; their first failure
    void count_done();
    // Hashes pieces until all contents are done, or `ending` (asked now and then).
    Result<void> help(const std::function<bool()>& ending);

private:
    struct Posted {
        std::shared_ptr<SharedTree> tree;
        std::vector<bool> claimed;
        std::size_t reached = 0;  // by the thread that goes through it
        std::size_t helpers = 0;
        std::optional<Error> failure;
    };
    struct Find {
        Posted* posted = nullptr;
        std::size_t piece = 0;
    };
    [[nodiscard]] Find find();
    [[nodiscard]] static std::optional<std::size_t> next_piece(const Posted& posted);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Posted>> posted_;
    std::size_t open_;
};

}  // namespace shoal::seeder
