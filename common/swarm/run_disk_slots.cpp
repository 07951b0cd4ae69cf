#include "common/swarm/run_disk.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/swarm/index.hpp"

#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>

#include <algorithm>
#include <utility>

// The other half of RunDisk: slots, reading, back pressure.

namespace shoal::swarm {
namespace {

constexpr std::size_t most_early = 4;  // incomplete runs written at once to make way

}  // namespace

std::optional<std::size_t> RunDisk::take_slot(const Place& place)
{
    auto index = arena_.take(1);
    if (!index) {
        auto oldest = slots_.end();
        for (auto slot = slots_.begin(); slot != slots_.end(); ++slot)
            if (slot->may_go() && (oldest == slots_.end() || slot->touched < oldest->touched)) oldest = slot;
        if (oldest != slots_.end())
            forget(static_cast<std::size_t>(oldest - slots_.begin()));
        else
            make_way();
        index = arena_.take(1);
        if (!index) return std::nullopt;
    }
    Slot& slot = slots_[*index];
    slot.used = true;
    slot.place = place;
    slot.touched = ++clock_;
    runs_[place] = *index;
    return index;
}

// The arena is full of what is not written. Unless enough is on its way, the run that has waited longest for its blocks is written as it is.
void RunDisk::make_way()
{
    if (storing_ > std::min(late_.size(), most_early)) return;
    auto oldest = slots_.end();
    auto stuck = slots_.end();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
        if (slot->failed && slot->writing == 0) stuck = slot;
        if (slot->dirty == 0 || slot->writing != 0 || slot->failed) continue;
        if (oldest == slots_.end() || slot->touched < oldest->touched) oldest = slot;
    }
    if (oldest != slots_.end())
        store(oldest->place, static_cast<std::size_t>(oldest - slots_.begin()), oldest->dirty);
    else if (storing_ == 0 && stuck != slots_.end())
        give_up(piece_place(stuck->place));  // a storage that fails must not keep the memory from others: its pieces are fetched again
}

void RunDisk::forget(std::size_t index)
{
    runs_.erase(slots_[index].place);
    slots_[index] = Slot{};
    arena_.give_back(index, 1);
}

void RunDisk::later(Late late)
{
    late_bytes_ += late.bytes.size();
    late_.push_back(std::move(late));
}

void RunDisk::serve_late()
{
    while (!late_.empty()) {
        Late late = std::move(late_.front());  // out of the queue: making way may clear some of it
        late_.pop_front();
        late_bytes_ -= late.bytes.size();
        const Torrent& of = *torrent(late.place.storage);
        const bool write = !late.bytes.empty();
        if (write ? put(of, late.place, late.block, std::as_bytes(std::span{late.bytes})) : load(late.place, late.read)) continue;
        late_bytes_ += late.bytes.size();
        late_.push_front(std::move(late));
        return;
    }
}

// Reading

void RunDisk::async_read(lt::storage_index_t storage, const lt::peer_request& request, ReadHandler handler, lt::disk_job_flags_t /*flags*/)
{
    const auto start = static_cast<std::uint32_t>(request.start);
    const auto end = start + static_cast<std::uint32_t>(request.length);
    const Place place{number(storage), number(request.piece), static_cast<std::uint32_t>(start / Arena::slot_bytes)};
    const Torrent* of = torrent(place.storage);
    if (of == nullptr || of->closing || of->failed) return refuse({{request, std::move(handler)}});
    const bool within = (end - 1) / Arena::slot_bytes == place.run && start < of->length(place.piece);
    if (!within || !of->verified[place.piece]) return read_stored(place.storage, request, std::move(handler));
    Read read{request, std::move(handler)};
    if (late_.empty() && load(place, read)) return;
    later({place, 0, {}, std::move(read)});
}

// Serves the read from the run's slot, once it is there. False: no slot is free, and the read is untouched.
bool RunDisk::load(const Place& place, Read& read)
{
    const Torrent& of = *torrent(place.storage);
    if (const auto at = runs_.find(place); at != runs_.end()) {
        Slot& slot = slots_[at->second];
        if (slot.loading) return slot.waiting.push_back(std::move(read)), true;
        if (slot.here == all_blocks(of, place)) return serve(of, at->second, std::move(read)), true;
        if (!slot.may_go()) return read_stored(place.storage, read.request, std::move(read.handler)), true;
        forget(at->second);  // written in parts: the slot has not all of it
    }
    const auto index = take_slot(place);
    if (!index) return false;
    slots_[*index].loading = true;
    slots_[*index].waiting.push_back(std::move(read));
    const MutableBytes bytes{arena_.data(*index), run_length(of, place)};
    const bool queued = workers_.run([this, network = network_, memory = arena_.memory(), content = of.content, place, index = *index, bytes] {
        Result<void> result = content->storage->read({place.piece}, static_cast<std::uint32_t>(place.run * Arena::slot_bytes), bytes);
        network->post([this, place, index, result = std::move(result)] { loaded(place, index, result); });
    });
    if (!queued) answer([this, place, index = *index] { loaded(place, index, failure(Errc::interrupted, "reading a piece: too much waits")); });
    return true;
}

void RunDisk::loaded(const Place& place, std::size_t index, const Result<void>& result)
{
    Slot& slot = slots_[index];
    slot.loading = false;
    std::vector<Read> waiting = std::exchange(slot.waiting, {});
    Torrent* of = torrent(place.storage);
    if (!result || of == nullptr || of->closing) {
        forget(index);
        refuse(std::move(waiting));
        if (of != nullptr && !of->closing && result.error().code != Errc::interrupted) fail(*of, result.error());
    } else {
        slot.here = all_blocks(*of, place);
        for (Read& read : waiting) serve(*of, index, std::move(read));
    }
    serve_late();
    release();
}

void RunDisk::serve(const Torrent& of, std::size_t index, Read read)
{
    Slot& slot = slots_[index];
    slot.touched = ++clock_;
    const std::size_t from = static_cast<std::uint32_t>(read.request.start) % Arena::slot_bytes;
    const std::size_t length = run_length(of, slot.place);
    lt::disk_buffer_holder buffer;
    // Slow neighbours must not keep the whole arena: above the half of it, they get copies.
    if (from + static_cast<std::size_t>(read.request.length) <= length && (slot.lent > 0 || lent_slots_ < slots_.size() / 2)) {
        if (slot.lent++ == 0) ++lent_slots_;
        buffer = lend(index, from, read.request.length);
    } else {
        buffer = copy({arena_.data(index) + from, std::min(length - from, static_cast<std::size_t>(read.request.length))}, read.request.length);
    }
    answer([handler = std::move(read.handler), buffer = std::move(buffer)]() mutable { handler(std::move(buffer), {}); });
}

void RunDisk::returned(std::size_t index)
{
    Slot& slot = slots_[index];
    if (--slot.lent > 0) return;
    --lent_slots_;
    if (late_.empty()) return;
    answer([this] {
        serve_late();
        release();
    });
}

// Back pressure: by what is queued for the disk threads, never by what is incomplete, or it would wait for blocks that it holds back.

bool RunDisk::behind() const
{
    return storing_ > slots_.size() / 8 || !late_.empty();
}

void RunDisk::release()
{
    if (stopped_.empty() || storing_ > slots_.size() / 16 || !late_.empty()) return;
    for (const auto& observer : std::exchange(stopped_, {}))
        if (const auto alive = observer.lock()) alive->on_disk();
}

}  // namespace shoal::swarm
