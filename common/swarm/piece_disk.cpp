#include "common/swarm/piece_disk.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/swarm/index.hpp"

#include <libtorrent/error_code.hpp>

#include <algorithm>
#include <utility>

namespace shoal::swarm {
namespace {

constexpr std::size_t largest_piece = std::size_t{16} << 20U;
constexpr std::size_t fewest_pieces = 2;
// A piece that was served in part is kept for this long after its last block, one that was read ahead for so long: reading twice costs the store twice.
constexpr std::chrono::seconds idle{1};
constexpr std::chrono::seconds idle_expected{10};

}  // namespace

PieceDisk::PieceDisk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads)
    : Disk{std::move(network), sink, std::max(buffer_bytes, fewest_pieces * largest_piece), threads, ReadUnit::piece},
      owner_(arena_.slots(), nullptr),
      now_{Clock::now()}
{}

PieceDisk::~PieceDisk()
{
    network_->close();  // while what is lent can still be given back
}

void PieceDisk::expect(const RevisionId& revision, PieceIndex piece)
{
    for (const std::uint32_t storage : storages_of(revision)) {
        const Place place{storage, piece.value, 0};
        const Torrent* of = torrent(storage);
        if (of->closing || of->failed || !order_.empty() || entries_.contains(place)) continue;
        start(place, Cause::expected);
    }
}

void PieceDisk::tick(TimePoint now)
{
    now_ = now;
    start_waiting();
}

void PieceDisk::async_read(lt::storage_index_t storage, const lt::peer_request& request, ReadHandler handler, lt::disk_job_flags_t /*flags*/)
{
    const Place place{number(storage), number(request.piece), 0};
    const Torrent* of = torrent(place.storage);
    if (of == nullptr || of->closing || of->failed) return refuse({{request, std::move(handler)}});
    if (const auto at = entries_.find(place); at != entries_.end()) {
        if (at->second.loading)
            at->second.waiting.push_back({request, std::move(handler)});
        else
            serve(at->second, {request, std::move(handler)});
        return;
    }
    auto& waiting = wanted_[place];
    if (waiting.empty()) order_.push_back(place);
    waiting.push_back({request, std::move(handler)});
    start_waiting();
}

void PieceDisk::start_waiting()
{
    while (!order_.empty() && start(order_.front(), Cause::asked)) order_.pop_front();
}

// False: no room yet. What waits for the piece goes with it.
bool PieceDisk::start(const Place& place, Cause cause)
{
    const Torrent* of = torrent(place.storage);
    Entry entry;
    entry.length = of->length(place.piece);
    entry.slots = (entry.length + Arena::slot_bytes - 1) / Arena::slot_bytes;
    entry.expected = cause == Cause::expected;
    if (entry.expected && expected_slots() + entry.slots > arena_.slots() / 2) return false;  // what is asked for comes first
    const auto first = make_room(entry.slots, cause);
    if (!first) return false;
    entry.first = *first;
    entry.served.resize(crypto::blocks_in(entry.length));
    entry.unserved = entry.served.size();
    entry.used = now_;
    if (const auto waiting = wanted_.find(place); waiting != wanted_.end()) {
        entry.waiting = std::move(waiting->second);
        wanted_.erase(waiting);
    }
    const auto at = entries_.emplace(place, std::move(entry)).first;
    std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(at->second.first), at->second.slots, &at->first);
    load(place, at->second);
    return true;
}

std::optional<std::size_t> PieceDisk::make_room(std::size_t slots, Cause cause)
{
    for (;;) {
        if (const auto first = arena_.take(slots)) return first;
        auto oldest = entries_.end();
        for (auto at = entries_.begin(); at != entries_.end(); ++at)
            if (may_go(at->second, cause) && (oldest == entries_.end() || at->second.used < oldest->second.used)) oldest = at;
        if (oldest == entries_.end()) return std::nullopt;
        drop(oldest);
    }
}

bool PieceDisk::may_go(const Entry& entry, Cause cause) const
{
    if (entry.loading || entry.lent > 0) return false;
    if (entry.unserved == 0) return true;
    if (entry.expected) return entry.used + idle_expected <= now_;
    return cause == Cause::asked && entry.used + idle <= now_;
}

std::size_t PieceDisk::expected_slots() const
{
    std::size_t slots = 0;
    for (const auto& [place, entry] : entries_)
        if (entry.expected) slots += entry.slots;
    return slots;
}

void PieceDisk::drop(std::map<Place, Entry>::iterator at)
{
    std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(at->second.first), at->second.slots, nullptr);
    arena_.give_back(at->second.first, at->second.slots);
    entries_.erase(at);
}

void PieceDisk::load(const Place& place, const Entry& entry)
{
    const Torrent* of = torrent(place.storage);
    const MutableBytes bytes{arena_.data(entry.first), entry.length};
    const bool queued = workers_.run([this, network = network_, memory = arena_.memory(), content = of->content, place, first = entry.first, bytes] {
        Result<void> result = content->storage->read({place.piece}, 0, bytes);
        network->post([this, place, first, result = std::move(result)] { loaded(place, first, result); });
    });
    if (queued) return;
    answer([this, place, first = entry.first] { loaded(place, first, failure(Errc::interrupted, "reading a piece: too much waits")); });
}

void PieceDisk::loaded(const Place& place, std::size_t first, const Result<void>& result)
{
    const auto at = entries_.find(place);
    if (at == entries_.end() || at->second.first != first) return;
    at->second.loading = false;
    at->second.used = now_;
    std::vector<Read> waiting = std::exchange(at->second.waiting, {});
    Torrent* of = torrent(place.storage);
    if (!result || of == nullptr || of->closing) {
        drop(at);
        refuse(std::move(waiting));
        if (of != nullptr && !of->closing && result.error().code != Errc::interrupted) fail(*of, result.error());
    } else {
        for (Read& read : waiting) serve(at->second, std::move(read));
    }
    start_waiting();
}

void PieceDisk::serve(Entry& entry, Read read)
{
    const auto start = static_cast<std::uint32_t>(read.request.start);
    const auto length = static_cast<std::uint32_t>(read.request.length);
    entry.used = now_;
    entry.expected = false;
    if (const std::size_t block = start / crypto::block_size; block < entry.served.size() && !entry.served[block]) {
        entry.served[block] = true;
        --entry.unserved;
    }
    // Some slow neighbours must not keep the whole cache: above the half, they get copies.
    const bool room = entry.lent > 0 || lent_slots_ + entry.slots <= arena_.slots() / 2;
    lt::disk_buffer_holder buffer;
    if (start + length <= entry.length && room) {
        if (entry.lent++ == 0) lent_slots_ += entry.slots;
        buffer = lend(entry.first + start / Arena::slot_bytes, start % Arena::slot_bytes, read.request.length);
    } else {
        const std::uint32_t from = std::min(start, entry.length);
        buffer = copy({arena_.data(entry.first) + from, std::min(length, entry.length - from)}, read.request.length);
    }
    answer([handler = std::move(read.handler), buffer = std::move(buffer)]() mutable { handler(std::move(buffer), {}); });
}

void PieceDisk::returned(std::size_t slot)
{
    if (owner_[slot] == nullptr) return;
    Entry& entry = entries_.at(*owner_[slot]);
    if (--entry.lent > 0) return;
    lent_slots_ -= entry.slots;
    if (!order_.empty()) answer([this] { start_waiting(); });
}

void PieceDisk::let_go(std::uint32_t storage)
{
    for (auto& [place, entry] : entries_)
        if (place.storage == storage) refuse(std::exchange(entry.waiting, {}));
    std::erase_if(order_, [storage](const Place& place) { return place.storage == storage; });
    for (auto& [place, reads] : wanted_)
        if (place.storage == storage) refuse(std::move(reads));
    std::erase_if(wanted_, [storage](const auto& wanted) { return wanted.first.storage == storage; });
    for (auto at = entries_.begin(); at != entries_.end();) {
        const auto next = std::next(at);
        if (at->first.storage == storage && !at->second.loading && at->second.lent == 0) drop(at);
        at = next;
    }
}

bool PieceDisk::async_write(lt::storage_index_t /*storage*/, const lt::peer_request& /*request*/, const char* /*buffer*/,
    std::shared_ptr<lt::disk_observer> /*observer*/, WriteHandler handler, lt::disk_job_flags_t /*flags*/)
{
    answer([handler = std::move(handler)] { handler(cancelled()); });  // it has everything: nobody writes
    return false;
}

void PieceDisk::async_hash(
    lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, lt::disk_job_flags_t /*flags*/, HashHandler handler)
{
    hash_stored(number(storage), piece, leaves, std::move(handler));
}

void PieceDisk::async_clear_piece(lt::storage_index_t /*storage*/, lt::piece_index_t piece, std::function<void(lt::piece_index_t)> handler)
{
    answer([handler = std::move(handler), piece] { handler(piece); });
}

}  // namespace shoal::swarm
