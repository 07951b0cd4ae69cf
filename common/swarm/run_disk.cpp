#include "common/swarm/run_disk.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/swarm/index.hpp"

#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace shoal::swarm {
namespace {

using crypto::block_size;
constexpr unsigned blocks_in_run = Arena::slot_bytes / block_size;
static_assert(blocks_in_run == 16);

std::uint16_t bit(unsigned block)
{
    return static_cast<std::uint16_t>(1U << block);
}

// Where the blocks of a set stand side by side: [first, end).
std::vector<std::pair<unsigned, unsigned>> ranges(unsigned blocks)
{
    std::vector<std::pair<unsigned, unsigned>> found;
    for (unsigned at = 0; at < blocks_in_run;) {
        const auto gap = static_cast<unsigned>(std::countr_zero(blocks >> at | 1U << blocks_in_run));
        const unsigned first = at + gap;
        if (first >= blocks_in_run) break;
        const unsigned end = first + static_cast<unsigned>(std::countr_one(blocks >> first));
        found.emplace_back(first, end);
        at = end;
    }
    return found;
}

// On a disk thread: hashes blocks of a run, and writes them.
Result<void> hash_and_write(PieceStorage& storage, std::uint32_t piece, std::uint32_t run, ConstBytes bytes, unsigned blocks, std::span<Digest> leaves)
{
    for (const auto& [first, end] : ranges(blocks)) {
        const std::size_t from = first * block_size;
        const ConstBytes part = bytes.subspan(from, std::min(end * block_size, bytes.size()) - from);
        crypto::hash_blocks(part, leaves.subspan(first, end - first));
        BOOST_OUTCOME_TRY(storage.write({piece}, static_cast<std::uint32_t>(run * Arena::slot_bytes + from), part));
    }
    return success();
}

}  // namespace

RunDisk::~RunDisk()
{
    network_->close();  // while what is lent can still be given back
}

RunDisk::RunDisk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads)
    : Disk{std::move(network), sink, buffer_bytes, threads, ReadUnit::part}, slots_(arena_.slots())
{}

std::uint32_t RunDisk::run_length(const Torrent& of, const Place& place)
{
    const std::uint64_t from = place.run * Arena::slot_bytes;
    const std::uint32_t length = of.length(place.piece);
    return from >= length ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(Arena::slot_bytes, length - from));
}

RunDisk::Blocks RunDisk::all_blocks(const Torrent& of, const Place& place)
{
    return static_cast<Blocks>((1U << crypto::blocks_in(run_length(of, place))) - 1);
}

RunDisk::Piece& RunDisk::piece_of(const Torrent& of, const Place& place)
{
    const auto [at, fresh] = pieces_.try_emplace(piece_place(place));
    if (fresh) {
        const std::uint32_t length = of.length(place.piece);
        at->second.leaves = std::make_shared<std::vector<Digest>>(crypto::blocks_in(length));
        at->second.arrived.resize((length + Arena::slot_bytes - 1) / Arena::slot_bytes);
        at->second.written.resize(at->second.arrived.size());
    }
    return at->second;
}

bool RunDisk::async_write(lt::storage_index_t storage, const lt::peer_request& request, const char* buffer, std::shared_ptr<lt::disk_observer> observer,
    WriteHandler handler, lt::disk_job_flags_t /*flags*/)
{
    const auto start = static_cast<std::uint32_t>(request.start);
    const Place place{number(storage), number(request.piece), static_cast<std::uint32_t>(start / Arena::slot_bytes)};
    const unsigned block = start % Arena::slot_bytes / block_size;
    const Torrent* of = torrent(place.storage);
    const auto dead = pieces_.find(piece_place(place));
    if (of == nullptr || of->closing || (dead != pieces_.end() && dead->second.dead)) {
        answer([handler = std::move(handler)] { handler(cancelled()); });
        return false;
    }
    const std::uint32_t length = of->length(place.piece);
    // What is verified is never written again, whatever libtorrent believes; and of a block that comes twice the first one counts.
    if (start >= length || of->verified[place.piece] || (piece_of(*of, place).arrived[place.run] & bit(block)) != 0) {
        answer([handler = std::move(handler)] { handler({}); });
        return false;
    }
    take_block(*of, place, block, {buffer, std::min(static_cast<std::size_t>(request.length), static_cast<std::size_t>(length - start))}, std::move(handler));
    if (!behind()) return false;
    stopped_.insert(observer);
    return true;
}

void RunDisk::take_block(const Torrent& of, const Place& place, unsigned block, std::span<const char> bytes, WriteHandler handler)
{
    if (late_bytes_ + bytes.size() > arena_.slots() * Arena::slot_bytes / 2) {
        answer([handler = std::move(handler)] { handler(cancelled()); });  // it will be asked for again
        return;
    }
    Piece& piece = piece_of(of, place);
    piece.arrived[place.run] |= bit(block);
    piece.writes.push_back(std::move(handler));
    sink_.block_taken(of.content->revision, {place.piece}, static_cast<std::uint32_t>(place.run * blocks_in_run + block));
    if (!late_.empty() || !put(of, place, block, std::as_bytes(bytes))) later({place, block, {bytes.begin(), bytes.end()}, {}});
}

// False: no slot is free.
bool RunDisk::put(const Torrent& of, const Place& place, unsigned block, ConstBytes bytes)
{
    const auto at = runs_.find(place);
    const auto index = at != runs_.end() ? std::optional{at->second} : take_slot(place);
    if (!index) return false;
    const auto piece = pieces_.find(piece_place(place));
    if (piece == pieces_.end() || piece->second.dead) {  // given up to make way, and answered
        forget(*index);
        return true;
    }
    Slot& slot = slots_[*index];
    std::memcpy(arena_.data(*index) + block * block_size, bytes.data(), bytes.size());
    slot.here |= bit(block);
    slot.dirty |= bit(block);
    slot.touched = ++clock_;
    if ((slot.dirty | piece->second.written[place.run]) == all_blocks(of, place)) store(place, *index, static_cast<Blocks>(slot.dirty & ~slot.writing));
    return true;
}

void RunDisk::store(const Place& place, std::size_t index, Blocks blocks)
{
    Slot& slot = slots_[index];
    const Torrent& of = *torrent(place.storage);
    Piece& piece = piece_of(of, place);
    if (blocks == 0) return;
    slot.writing |= blocks;
    ++piece.jobs;
    ++storing_;
    const ConstBytes bytes{arena_.data(index), run_length(of, place)};
    auto job = [this, network = network_, memory = arena_.memory(), content = of.content, leaves = piece.leaves, place, index, blocks, bytes] {
        const std::span<Digest> own = std::span{*leaves}.subspan(std::size_t{place.run} * blocks_in_run);
        Result<void> result = hash_and_write(*content->storage, place.piece, place.run, bytes, blocks, own);
        network->post([this, place, index, blocks, result = std::move(result)] { stored(place, index, blocks, result); });
    };
    if (workers_.run(std::move(job))) return;
    answer([this, place, index, blocks] { stored(place, index, blocks, failure(Errc::interrupted, "writing a piece: too much waits")); });
}

void RunDisk::stored(const Place& place, std::size_t index, Blocks blocks, const Result<void>& result)
{
    --storing_;
    Slot& slot = slots_[index];
    slot.writing = static_cast<Blocks>(slot.writing & ~blocks);
    Piece& piece = pieces_.at(piece_place(place));
    --piece.jobs;
    Torrent* of = torrent(place.storage);
    if (piece.dead || of == nullptr) {
        slot.dirty = 0;
        if (slot.may_go()) forget(index);
        forget_if_over(piece_place(place));
    } else if (!result) {
        slot.failed = true;
        fail(*of, result.error());
    } else {
        slot.dirty = static_cast<Blocks>(slot.dirty & ~blocks);
        piece.written[place.run] |= blocks;
        settle(piece_place(place));
    }
    serve_late();
    release();
}

void RunDisk::async_hash(
    lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, lt::disk_job_flags_t /*flags*/, HashHandler handler)
{
    const Place place{number(storage), number(piece), 0};
    const auto at = pieces_.find(place);
    if (at == pieces_.end() || at->second.dead) return hash_stored(place.storage, piece, leaves, std::move(handler));
    at->second.hashes = leaves;
    at->second.judged = std::move(handler);
    settle(place);
}

// Judges the piece when all of it is written and libtorrent has asked.
void RunDisk::settle(const Place& place)
{
    const auto at = pieces_.find(place);
    if (at == pieces_.end() || !at->second.judged || at->second.jobs > 0) return;
    const Torrent& of = *torrent(place.storage);
    for (std::uint32_t run = 0; run < at->second.written.size(); ++run)
        if (at->second.written[run] != all_blocks(of, {place.storage, place.piece, run})) return;
    Piece piece = std::move(at->second);
    pieces_.erase(at);
    judge(of, place, std::move(piece));
}

void RunDisk::judge(const Torrent& of, const Place& place, Piece piece)
{
    const DiskContent& content = *of.content;
    const std::uint64_t file_size = content.layout->files()[content.layout->place({place.piece}).file.value].size;
    const Digest found = crypto::tree_root(*piece.leaves, crypto::tree_width(file_size, content.layout->piece_size()));
    const bool right = found == (*content.layers)[place.piece];
    torrent(place.storage)->verified[place.piece] = right;
    if (!right)
        for (std::uint32_t run = 0; run < piece.written.size(); ++run)
            if (const auto at = runs_.find({place.storage, place.piece, run}); at != runs_.end()) forget(at->second);
    for (std::size_t i = 0; i < std::min(piece.leaves->size(), static_cast<std::size_t>(piece.hashes.size())); ++i)
        std::memcpy(piece.hashes[static_cast<std::ptrdiff_t>(i)].data(), (*piece.leaves)[i].bytes.data(), Digest::size);
    sink_.piece_judged(content.revision, {place.piece}, right, *piece.leaves);
    answer([this, revision = content.revision, index = piece_index(place.piece), right, writes = std::move(piece.writes), judged = std::move(piece.judged)] {
        if (right) {
            for (const WriteHandler& handler : writes) handler({});
            sink_.begin_trust();
            judged(index, {}, {});
            sink_.end_trust();
        } else {
            judged(index, {}, cancelled());
            for (const WriteHandler& handler : writes) handler(cancelled());
            sink_.piece_reopened(revision);
        }
    });
}

// Answers all that waits for a piece as cancelled.
void RunDisk::give_up(const Place& place)
{
    const auto at = pieces_.find(place);
    if (at == pieces_.end() || at->second.dead) return;
    Piece& piece = at->second;
    piece.dead = true;
    for (std::uint32_t run = 0; run < piece.arrived.size(); ++run) {
        const auto slot = runs_.find({place.storage, place.piece, run});
        if (slot == runs_.end()) continue;
        slots_[slot->second].dirty = slots_[slot->second].writing;
        if (slots_[slot->second].may_go()) forget(slot->second);
    }
    std::erase_if(late_, [this, place](const Late& late) {
        const bool gone = !late.bytes.empty() && piece_place(late.place) == place;
        if (gone) late_bytes_ -= late.bytes.size();
        return gone;
    });
    answer([index = piece_index(place.piece), writes = std::exchange(piece.writes, {}), judged = std::exchange(piece.judged, {})] {
        if (judged) judged(index, {}, cancelled());
        for (const WriteHandler& handler : writes) handler(cancelled());
    });
    forget_if_over(place);
}

void RunDisk::forget_if_over(const Place& place)
{
    const auto at = pieces_.find(place);
    if (at == pieces_.end() || !at->second.dead || at->second.jobs > 0) return;
    for (auto& handler : at->second.cleared) answer([handler = std::move(handler), index = piece_index(place.piece)] { handler(index); });
    pieces_.erase(at);
}

void RunDisk::async_clear_piece(lt::storage_index_t storage, lt::piece_index_t piece, std::function<void(lt::piece_index_t)> handler)
{
    const Place place{number(storage), number(piece), 0};
    const auto at = pieces_.find(place);
    if (at == pieces_.end()) return answer([handler = std::move(handler), piece] { handler(piece); });
    at->second.cleared.push_back(std::move(handler));
    give_up(place);
}

void RunDisk::make_way_for(const RevisionId& revision, PieceIndex piece, std::function<void(bool free)> ready)
{
    const std::vector<std::uint32_t> storages = storages_of(revision);
    if (storages.empty()) return Disk::make_way_for(revision, piece, std::move(ready));
    const Place place{storages.front(), piece.value, 0};
    async_clear_piece(lt::storage_index_t{place.storage}, piece_index(piece.value), [this, place, ready = std::move(ready)](lt::piece_index_t) {
        const Torrent* of = torrent(place.storage);
        const bool open = of != nullptr && !of->closing && !of->failed && !of->verified[place.piece] && !pieces_.contains(place);
        ready(open && late_.empty() && of->length(place.piece) <= arena_.slots() * Arena::slot_bytes / 2);
    });
}

void RunDisk::resume(const RevisionId& revision)
{
    Disk::resume(revision);
    const std::vector<std::uint32_t> storages = storages_of(revision);
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (!slot.failed || std::find(storages.begin(), storages.end(), slot.place.storage) == storages.end()) continue;
        slot.failed = false;
        store(slot.place, index, static_cast<Blocks>(slot.dirty & ~slot.writing));
    }
}

void RunDisk::let_go(std::uint32_t storage)
{
    std::vector<Place> places;
    for (const auto& [place, piece] : pieces_)
        if (place.storage == storage) places.push_back(place);
    for (const Place& place : places) give_up(place);
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        if (!slots_[index].used || slots_[index].place.storage != storage) continue;
        refuse(std::exchange(slots_[index].waiting, {}));
        if (slots_[index].may_go()) forget(index);
    }
    std::erase_if(late_, [this, storage](Late& late) {  // reads: the writes went with their pieces
        if (late.place.storage != storage) return false;
        answer([handler = std::move(late.read.handler)] { handler({}, cancelled()); });
        return true;
    });
    serve_late();
    release();
}

}  // namespace shoal::swarm
