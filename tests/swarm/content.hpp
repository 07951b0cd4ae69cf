// A model in memory, as a swarm sees it, and storages that hold, receive, spoil, delay or refuse its pieces.
#pragma once

#include "common/core/random.hpp"
#include "common/crypto/content_hasher.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "common/swarm/piece_storage.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::swarm {

struct Content {
    RevisionId revision;
    std::shared_ptr<const model::Layout> layout;
    std::shared_ptr<const model::Layers> layers;
    std::vector<std::string> pieces;
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(layout->bytes()); }
};

// Bytes of which no two blocks are equal, quickly.
inline std::string noise(std::size_t size, Random& random)
{
    std::string block(16384, '\0');
    for (std::size_t i = 0; i < block.size(); i += 8) {
        const std::uint64_t word = random();
        std::memcpy(block.data() + i, &word, 8);
    }
    std::string bytes;
    bytes.reserve(size);
    while (bytes.size() < size) {
        const std::uint64_t word = random();
        std::memcpy(block.data(), &word, 8);
        bytes.append(block, 0, std::min(block.size(), size - bytes.size()));
    }
    return bytes;
}

inline Digest root_of(const std::string& bytes, std::uint32_t piece_size, model::Layers* layer = nullptr)
{
    crypto::TreeHasher hasher{bytes.size(), piece_size};
    hasher.update(as_bytes(bytes));
    const crypto::TreeDigest tree = hasher.finish();
    if (layer != nullptr) layer->insert(layer->end(), tree.layer.begin(), tree.layer.end());
    return tree.pieces_root;
}

// Files f000, f001, ... of these sizes; more than 256 small ones share packs.
inline Content make_content(const std::vector<std::uint64_t>& sizes, std::uint32_t piece_size = model::min_piece_size, std::uint64_t seed = 1)
{
    Random random{seed};
    model::Manifest manifest;
    manifest.model = "llama";
    manifest.piece_size = piece_size;
    std::vector<std::string> files;
    for (const std::uint64_t size : sizes) {
        std::string number = std::to_string(1000 + files.size());
        files.push_back(noise(size, random));
        manifest.files.push_back({"f" + number, size, size == 0 ? Digest{} : root_of(files.back(), piece_size), {}});
    }
    for (auto& members : model::pack_files(sizes, piece_size)) {
        model::Pack pack{members, 0, {}};
        std::string bytes;
        for (const FileIndex file : members) bytes += files[file.value];
        pack.size = bytes.size();
        pack.pieces_root = root_of(bytes, piece_size);
        manifest.packs.push_back(std::move(pack));
    }
    Content content;
    content.revision.bytes[0] = static_cast<std::uint8_t>(seed);
    content.revision.bytes[31] = 7;
    content.layout = std::make_shared<model::Layout>(manifest);
    model::Layers layers;
    for (const model::SwarmFile& swarm_file : content.layout->files()) {
        std::string bytes;
        for (const FileIndex file : swarm_file.files) bytes += files[file.value];
        root_of(bytes, piece_size, &layers);
        for (std::size_t at = 0; at < bytes.size(); at += piece_size) content.pieces.push_back(bytes.substr(at, piece_size));
    }
    content.layers = std::make_shared<model::Layers>(std::move(layers));
    return content;
}

// Pieces in memory. Faults are set from the test, reads and writes come from disk threads.
class MemoryStorage : public PieceStorage {
public:
    enum class Holds { nothing, all };
    MemoryStorage(const Content& content, Holds holds) : content_{content}
    {
        for (const std::string& piece : content.pieces) pieces_.push_back(holds == Holds::all ? piece : std::string(piece.size(), '\0'));
    }

    Result<void> read(PieceIndex piece, std::uint32_t offset, MutableBytes out) override
    {
        std::unique_lock lock{mutex_};
        ++reads_;
        ++waiting_;
        changed_.notify_all();
        released_.wait(lock, [this] { return !stuck_; });
        --waiting_;
        if (failure_) return failure(*failure_);
        std::memcpy(out.data(), pieces_[piece.value].data() + offset, out.size());
        if (lies_) out[0] ^= std::byte{1};
        return success();
    }
    Result<void> write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes) override
    {
        std::unique_lock lock{mutex_};
        ++waiting_;
        changed_.notify_all();
        released_.wait(lock, [this] { return !stuck_; });
        --waiting_;
        if (failure_ || (room_ && *room_ < bytes.size()))
            return failure(failure_.value_or(Error{Errc::no_space, "writing: the volume: No space left on device", {}}));
        if (room_) *room_ -= bytes.size();
        written_ += bytes.size();
        std::memcpy(pieces_[piece.value].data() + offset, bytes.data(), bytes.size());
        return success();
    }

    [[nodiscard]] bool equal(std::uint32_t piece) const
    {
        const std::lock_guard lock{mutex_};
        return pieces_[piece] == content_.pieces[piece];
    }
    [[nodiscard]] bool complete() const
    {
        const std::lock_guard lock{mutex_};
        return pieces_ == content_.pieces;
    }
    [[nodiscard]] bool untouched() const
    {
        const std::lock_guard lock{mutex_};
        return written_ == 0;
    }
    [[nodiscard]] std::uint64_t written() const
    {
        const std::lock_guard lock{mutex_};
        return written_;
    }
    [[nodiscard]] std::size_t reads() const
    {
        const std::lock_guard lock{mutex_};
        return reads_;
    }
    void put(std::uint32_t piece)
    {
        const std::lock_guard lock{mutex_};
        pieces_[piece] = content_.pieces[piece];
    }
    void lie()
    {
        set([this] { lies_ = true; });
    }
    void fail(std::optional<Error> error)
    {
        set([&] { failure_ = std::move(error); });
    }
    void room(std::optional<std::uint64_t> bytes)
    {
        set([&] { room_ = bytes; });
    }
    void stick(bool stuck)
    {
        set([&] { stuck_ = stuck; });
        released_.notify_all();
    }
    void wait_until_stuck(int calls = 1)
    {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return stuck_ && waiting_ >= calls; });
    }

private:
    template <typename Change>
    void set(Change change)
    {
        const std::lock_guard lock{mutex_};
        change();
    }
    const Content& content_;
    mutable std::mutex mutex_;
    std::condition_variable released_;
    std::condition_variable changed_;
    std::vector<std::string> pieces_;
    bool lies_ = false;
    bool stuck_ = false;
    int waiting_ = 0;
    std::size_t reads_ = 0;
    std::uint64_t written_ = 0;
    std::optional<std::uint64_t> room_;
    std::optional<Error> failure_;
};

}  // namespace shoal::swarm
