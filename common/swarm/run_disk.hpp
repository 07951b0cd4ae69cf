// The peer's disk backend. Its unit is a run: 16 adjacent blocks of a piece, 256 KiB, one slot of the arena, so that memory does not depend on the size of
// pieces or the number of those in flight. What arrives is copied once, into its run's slot; when the run is whole, a disk thread hashes its blocks side by
// side and writes it. A piece is judged when all its runs are hashed and written. Reads are lent from the slots. Network thread.
//
// libtorrent's write handlers are kept until the piece is judged. So a wrong piece can be given back to it block by block, as cancelled writes, without its
// own ways of blaming, which ban addresses and not members, and which ask for block hashes, where a refusal corrupts memory (2.0.8 to 2.0.12).
#pragma once

#include "common/swarm/disk.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace shoal::swarm {

class RunDisk final : public Disk {
public:
    RunDisk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads);

    ~RunDisk() override;

    void resume(const RevisionId& revision) override;
    void make_way_for(const RevisionId& revision, PieceIndex piece, std::function<void(bool free)> ready) override;

    void async_read(lt::storage_index_t storage, const lt::peer_request& request, ReadHandler handler, lt::disk_job_flags_t flags) override;
    // Back pressure: true while hashing and writing are behind, or no slot is free. The observer is told when it is over.
    bool async_write(lt::storage_index_t storage, const lt::peer_request& request, const char* buffer, std::shared_ptr<lt::disk_observer> observer,
        WriteHandler handler, lt::disk_job_flags_t flags) override;
    void async_hash(
        lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, lt::disk_job_flags_t flags, HashHandler handler) override;
    void async_clear_piece(lt::storage_index_t storage, lt::piece_index_t piece, std::function<void(lt::piece_index_t)> handler) override;

private:
    using Blocks = std::uint16_t;  // a set of a run's blocks

    struct Slot {
        Place place;
        bool used = false;
        bool loading = false;  // a disk thread reads into it
        bool failed = false;   // could not be written: waits for resume()
        Blocks here = 0;       // whose bytes are in the slot
        Blocks dirty = 0;      // and not in storage
        Blocks writing = 0;    // with a disk thread
        int lent = 0;
        std::uint64_t touched = 0;
        std::vector<Read> waiting;
        [[nodiscard]] bool may_go() const { return used && !loading && lent == 0 && dirty == 0 && writing == 0; }
    };
    // Being received.
    struct Piece {
        std::shared_ptr<std::vector<Digest>> leaves;  // filled by disk threads, each its own blocks
        std::vector<Blocks> arrived;                  // by run
        std::vector<Blocks> written;                  // and hashed
        std::vector<WriteHandler> writes;
        int jobs = 0;                      // with disk threads
        bool dead = false;                 // answered; goes when its jobs have ended, so that no old bytes are written over new ones
        lt::span<lt::sha256_hash> hashes;  // points into `judged`: that is moved, never copied
        HashHandler judged;
        std::vector<std::function<void(lt::piece_index_t)>> cleared;
    };
    // What found no slot. Bounded by what neighbours' receive buffers hold.
    struct Late {
        Place place;
        unsigned block = 0;
        std::vector<char> bytes;  // of a write; empty: `read`
        Read read;
    };

    void returned(std::size_t index) override;
    void let_go(std::uint32_t storage) override;

    [[nodiscard]] static std::uint32_t run_length(const Torrent& of, const Place& place);
    [[nodiscard]] static Blocks all_blocks(const Torrent& of, const Place& place);
    Piece& piece_of(const Torrent& of, const Place& place);
    static Place piece_place(const Place& place) { return {place.storage, place.piece, 0}; }

    void take_block(const Torrent& of, const Place& place, unsigned block, std::span<const char> bytes, WriteHandler handler);
    bool put(const Torrent& of, const Place& place, unsigned block, ConstBytes bytes);
    void store(const Place& place, std::size_t index, Blocks blocks);
    void stored(const Place& place, std::size_t index, Blocks blocks, const Result<void>& result);
    void settle(const Place& place);
    void judge(const Torrent& of, const Place& place, Piece piece);
    void give_up(const Place& place);
    void forget_if_over(const Place& place);

    std::optional<std::size_t> take_slot(const Place& place);
    void make_way();
    void forget(std::size_t index);
    bool load(const Place& place, Read& read);
    void loaded(const Place& place, std::size_t index, const Result<void>& result);
    void serve(const Torrent& of, std::size_t index, Read read);
    void serve_late();
    void later(Late late);

    [[nodiscard]] bool behind() const;
    void release();

    std::vector<Slot> slots_;
    std::map<Place, std::size_t> runs_;  // in the arena
    std::map<Place, Piece> pieces_;
    std::deque<Late> late_;
    std::size_t late_bytes_ = 0;
    std::size_t storing_ = 0;  // runs with disk threads
    std::size_t lent_slots_ = 0;
    std::uint64_t clock_ = 0;  // counts touches of slots
    std::set<std::weak_ptr<lt::disk_observer>, std::owner_less<>> stopped_;
};

}  // namespace shoal::swarm
