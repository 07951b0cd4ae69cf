// Pieces of packs, read from a remote store many at a time ahead of demand: whoever asks for one of a pack will ask for the others. Any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/model/layout.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace shoal::origin {

inline constexpr std::uint32_t stretch_bytes = 8U << 20U;

// Memory for what was read ahead, shared by all revisions of a process.
class AheadRoom {
public:
    explicit AheadRoom(std::size_t bytes) : free_{bytes} {}
    [[nodiscard]] bool take(std::size_t bytes);
    void give_back(std::size_t bytes) { free_ += bytes; }

private:
    std::atomic<std::size_t> free_;
};

// Consecutive pieces of one swarm file.
struct PieceRun {
    PieceIndex first;
    std::uint32_t count = 0;
    std::size_t bytes = 0;
};

// The run that is read when a piece of a pack is asked for; nothing for pieces of other files, and where it would be no more than the piece.
std::optional<PieceRun> stretch_around(const model::Layout& layout, PieceIndex piece);

class Stretches {
public:
    // Reads and verifies all pieces of a run, end to end.
    using ReadRun = std::function<Result<void>(const PieceRun& run, MutableBytes out)>;
    Stretches(std::shared_ptr<const model::Layout> layout, std::shared_ptr<AheadRoom> room, ReadRun read);
    ~Stretches();
    Stretches(const Stretches&) = delete;
    Stretches& operator=(const Stretches&) = delete;

    // True: `out` is the verified piece, which came ahead, or with a stretch that is read now. False: it has to be read alone, since there is no room, it was
    // given before, or its stretch cannot be read.
    bool take(PieceIndex piece, MutableBytes out, TimePoint now);

private:
    struct Stretch;
    std::shared_ptr<Stretch> begin(const PieceRun& run);
    void make_room(TimePoint now);
    void drop_memory(Stretch& stretch);

    std::shared_ptr<const model::Layout> layout_;
    std::shared_ptr<AheadRoom> room_;
    ReadRun read_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::uint32_t, std::shared_ptr<Stretch>> stretches_;  // by first piece; those that were given keep their place, without memory, for a while
};

}  // namespace shoal::origin
