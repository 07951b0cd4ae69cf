// The seeder's disk backend: serves blocks from a bounded cache of whole pieces, each read once (PieceStorage verifies what it reads) and at the moment
// somebody asks for its first block. Read-only. Network thread.
#pragma once

#include "common/swarm/disk.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace shoal::swarm {

class PieceDisk final : public Disk {
public:
    // `threads` read from storage at once. The cache holds `buffer_bytes`, but two of the largest pieces at least.
    PieceDisk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads);
    ~PieceDisk() override;

    // Reads the piece now if there is room for it: blocks are asked for by the thousand and read by the send buffer, and the store is slow to answer.
    void expect(const RevisionId& revision, PieceIndex piece) override;
    void tick(TimePoint now) override;

    void async_read(lt::storage_index_t storage, const lt::peer_request& request, ReadHandler handler, lt::disk_job_flags_t flags) override;
    bool async_write(lt::storage_index_t storage, const lt::peer_request& request, const char* buffer, std::shared_ptr<lt::disk_observer> observer,
        WriteHandler handler, lt::disk_job_flags_t flags) override;
    void async_hash(
        lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, lt::disk_job_flags_t flags, HashHandler handler) override;
    void async_clear_piece(lt::storage_index_t storage, lt::piece_index_t piece, std::function<void(lt::piece_index_t)> handler) override;

private:
    // A piece in the cache, or on its way.
    struct Entry {
        std::size_t first = 0;  // slots
        std::size_t slots = 0;
        std::uint32_t length = 0;
        bool loading = true;
        bool expected = false;     // read ahead, and no block was served yet
        int lent = 0;              // blocks that libtorrent has not sent yet
        std::vector<bool> served;  // blocks that somebody has asked for
        std::size_t unserved = 0;
        TimePoint used;
        std::vector<Read> waiting;
    };

    void returned(std::size_t slot) override;
    void let_go(std::uint32_t storage) override;

    void start_waiting();
    enum class Cause { asked, expected };
    bool start(const Place& place, Cause cause);
    std::optional<std::size_t> make_room(std::size_t slots, Cause cause);
    [[nodiscard]] bool may_go(const Entry& entry, Cause cause) const;
    [[nodiscard]] std::size_t expected_slots() const;
    void load(const Place& place, const Entry& entry);
    void loaded(const Place& place, std::size_t first, const Result<void>& result);
    void serve(Entry& entry, Read read);
    void drop(std::map<Place, Entry>::iterator at);

    std::map<Place, Entry> entries_;
    std::map<Place, std::vector<Read>> wanted_;  // for which there is no room yet; libtorrent bounds them by its send buffers
    std::deque<Place> order_;                    // in which they came
    std::vector<const Place*> owner_;            // of each slot, a key of entries_
    std::size_t lent_slots_ = 0;                 // of pieces of which some block is lent
    TimePoint now_;
};

}  // namespace shoal::swarm
