#include "common/origin/stretches.hpp"

#include "common/origin/pack_memory.hpp"

#include <algorithm>
#include <cstring>

namespace shoal::origin {
namespace {

constexpr std::chrono::seconds idle{10};   // nobody asks for the rest any more
constexpr std::chrono::seconds again{30};  // who asks later is another swarm, to which all of it goes again

}  // namespace

bool AheadRoom::take(std::size_t bytes)
{
    std::size_t free = free_;
    do {
        if (free < bytes) return false;
    } while (!free_.compare_exchange_weak(free, free - bytes));
    return true;
}

std::optional<PieceRun> stretch_around(const model::Layout& layout, PieceIndex piece)
{
    const model::SwarmFile& file = layout.files()[layout.place(piece).file.value];
    const std::uint32_t most = stretch_bytes / layout.piece_size();
    if (file.files.size() < 2 || most < 2) return std::nullopt;
    const std::uint32_t before = (piece.value - file.first_piece) / most * most;
    const std::uint64_t offset = std::uint64_t{before} * layout.piece_size();
    PieceRun run{{file.first_piece + before}, std::min(most, file.pieces - before), 0};
    run.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{run.count} * layout.piece_size(), file.size - offset));
    if (run.count < 2) return std::nullopt;
    return run;
}

struct Stretches::Stretch {
    PieceRun run;
    PackMemory memory;  // none: given up, or given away
    bool reading = true;
    std::vector<bool> given;
    std::optional<TimePoint> used = {};  // none: nobody has come since it was read
};

Stretches::Stretches(std::shared_ptr<const model::Layout> layout, std::shared_ptr<AheadRoom> room, ReadRun read)
    : layout_{std::move(layout)}, room_{std::move(room)}, read_{std::move(read)}
{}

Stretches::~Stretches()
{
    for (const auto& [first, stretch] : stretches_) drop_memory(*stretch);
}

void Stretches::drop_memory(Stretch& stretch)
{
    if (!stretch.memory) return;
    stretch.memory.reset();
    room_->give_back(stretch.run.bytes);
}

void Stretches::make_room(TimePoint now)
{
    for (auto at = stretches_.begin(); at != stretches_.end();) {
        Stretch& stretch = *at->second;
        if (!stretch.reading && !stretch.used) stretch.used = now;
        const Duration unused = stretch.reading ? Duration{} : now - *stretch.used;
        if (unused >= idle) drop_memory(stretch);
        at = unused >= again ? stretches_.erase(at) : std::next(at);
    }
}

// With the mutex. Null: there is no room.
std::shared_ptr<Stretches::Stretch> Stretches::begin(const PieceRun& run)
{
    if (!room_->take(run.bytes)) return nullptr;
    auto stretch = std::make_shared<Stretch>(Stretch{run, memory_for_pack(run.bytes), true, std::vector<bool>(run.count)});
    stretches_.emplace(run.first.value, stretch);
    return stretch;
}

bool Stretches::take(PieceIndex piece, MutableBytes out, TimePoint now)
{
    const auto run = stretch_around(*layout_, piece);
    if (!run) return false;
    std::unique_lock lock{mutex_};
    make_room(now);
    const auto known = stretches_.find(run->first.value);
    std::shared_ptr<Stretch> stretch = known == stretches_.end() ? nullptr : known->second;
    if (!stretch) {
        stretch = begin(*run);
        if (!stretch) return false;
        lock.unlock();
        const auto read = read_(*run, {stretch->memory.get(), run->bytes});
        lock.lock();
        stretch->reading = false;
        if (!read) drop_memory(*stretch);
        arrived_.notify_all();
    }
    arrived_.wait(lock, [&stretch] { return !stretch->reading; });
    const std::uint32_t index = piece.value - run->first.value;
    if (!stretch->memory || stretch->given[index]) return false;
    std::memcpy(out.data(), stretch->memory.get() + std::size_t{index} * layout_->piece_size(), out.size());
    stretch->given[index] = true;
    if (stretch->used) stretch->used = std::max(*stretch->used, now);
    if (std::all_of(stretch->given.begin(), stretch->given.end(), [](bool given) { return given; })) drop_memory(*stretch);
    return true;
}

}  // namespace shoal::origin
