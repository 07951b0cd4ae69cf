#include "peer/piece_check.hpp"

#include "common/crypto/block_tree.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

namespace shoal::peer {
namespace {

constexpr std::uint64_t memory_budget = 64U << 20U;
constexpr unsigned most_threads = 8;
constexpr std::size_t most_unreadable = 100;

// What the threads share: the next piece to take, and what was found so far.
class Check {
public:
    Check(const model::Layout& layout, const model::Layers& layers, swarm::PieceStorage& storage, const std::vector<bool>& which, const PieceSink& sink)
        : layout_{layout}, layers_{layers}, storage_{storage}, which_{which}, sink_{sink}
    {
        result_.good.resize(layout.pieces());
    }

    void work(const std::atomic<bool>& cancelled)
    {
        std::vector<std::byte> buffer(layout_.piece_size());
        while (!cancelled && !failed_) {
            const std::uint32_t piece = next_++;
            if (piece >= layout_.pieces()) return;
            if (which_[piece]) check(PieceIndex{piece}, buffer);
        }
    }

    Result<PieceCheck> take()
    {
        if (failure_) return failure(*failure_);
        return std::move(result_);
    }

private:
    void check(PieceIndex piece, std::vector<std::byte>& buffer)
    {
        const MutableBytes bytes{buffer.data(), layout_.place(piece).length};
        const auto read = storage_.read(piece, 0, bytes);
        const Digest found = read ? digest_of(layout_, piece, bytes) : Digest{};
        const bool good = read && found == layers_[piece.value];
        const auto sunk = good && sink_ ? sink_(piece, bytes) : Result<void>{success()};
        const std::lock_guard lock{mutex_};
        if (!sunk) {
            failure_ = sunk.error();
            failed_ = true;
        } else if (good)
            result_.good[piece.value] = true;
        else if (read)
            result_.wrong.emplace_back(piece, found);
        else if (result_.unreadable.size() < most_unreadable)
            result_.unreadable.emplace_back(piece, read.error());
    }

    const model::Layout& layout_;
    const model::Layers& layers_;
    swarm::PieceStorage& storage_;
    const std::vector<bool>& which_;
    const PieceSink& sink_;
    std::atomic<std::uint32_t> next_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    PieceCheck result_;
    std::optional<Error> failure_;
};

unsigned threads_for(const model::Layout& layout)
{
    const std::uint64_t by_memory = std::max<std::uint64_t>(1, memory_budget / layout.piece_size());
    return static_cast<unsigned>(std::min<std::uint64_t>({by_memory, most_threads, std::max(1U, std::thread::hardware_concurrency()), layout.pieces()}));
}

}  // namespace

Digest digest_of(const model::Layout& layout, PieceIndex piece, ConstBytes bytes)
{
    const std::uint64_t file_size = layout.files()[layout.place(piece).file.value].size;
    return crypto::piece_digest(bytes, crypto::tree_width(file_size, layout.piece_size()));
}

Result<PieceCheck> check_pieces(const model::Layout& layout, const model::Layers& layers, swarm::PieceStorage& storage, const std::vector<bool>& which,
    const std::atomic<bool>& cancelled, const PieceSink& sink)
{
    if (std::find(which.begin(), which.end(), true) == which.end()) return PieceCheck{std::vector<bool>(layout.pieces()), {}, {}};
    Check check{layout, layers, storage, which, sink};
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < threads_for(layout); ++i) threads.emplace_back([&check, &cancelled] { check.work(cancelled); });
    }
    if (cancelled) return failure(Errc::interrupted, "checking what is there was interrupted");
    return check.take();
}

}  // namespace shoal::peer
