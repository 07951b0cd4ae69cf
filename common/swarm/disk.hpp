// What both disk backends share: the torrents, lending of buffers, hashing of what is stored, and the calls of libtorrent's interface that have nothing to
// do here. Network thread, as libtorrent calls it. No call ever waits; handlers come back by a post.
#pragma once

#include "common/core/clock.hpp"
#include "common/swarm/arena.hpp"
#include "common/swarm/disk_content.hpp"
#include "common/swarm/disk_workers.hpp"
#include "common/swarm/network_thread.hpp"

#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/disk_interface.hpp>
#include <libtorrent/peer_request.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shoal::swarm {

// How PieceStorage may be read: by any part, or only by whole pieces (which can be verified).
enum class ReadUnit { part, piece };

using ReadHandler = std::function<void(lt::disk_buffer_holder, const lt::storage_error&)>;
using WriteHandler = std::function<void(const lt::storage_error&)>;
using HashHandler = std::function<void(lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error&)>;
using BlockHashHandler = std::function<void(lt::piece_index_t, const lt::sha256_hash&, const lt::storage_error&)>;

// The error that libtorrent shall see: `cancelled` makes it forget the request and do nothing else, so that what a failure means is decided here.
lt::storage_error cancelled();

class Disk : public lt::disk_interface, protected lt::buffer_allocator_interface {
public:
    Disk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads, ReadUnit unit);
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    ~Disk() override;  // see ~DiskWorkers

    // After a failure of the storage was told: goes on, with what was received and could not be written.
    virtual void resume(const RevisionId& revision);
    // Answers all that waits for the revision, and takes nothing more: before its torrent is removed.
    void close(const RevisionId& revision);
    void close_all();
    // Lets go what has arrived of the piece, so that it can be written as a whole; ready() hears later whether it can be now.
    virtual void make_way_for(const RevisionId& revision, PieceIndex piece, std::function<void(bool free)> ready);
    // A neighbour has asked for a block of this piece, and a read will follow.
    virtual void expect(const RevisionId& revision, PieceIndex piece);
    virtual void tick(TimePoint now);  // about once a second

    lt::storage_holder new_torrent(const lt::storage_params& params, const std::shared_ptr<void>& torrent) override;
    void remove_torrent(lt::storage_index_t storage) override;
    void async_hash2(lt::storage_index_t storage, lt::piece_index_t piece, int offset, lt::disk_job_flags_t flags, BlockHashHandler handler) override;
    void async_check_files(lt::storage_index_t storage, const lt::add_torrent_params* resume_data, lt::aux::vector<std::string, lt::file_index_t> links,
        std::function<void(lt::status_t, const lt::storage_error&)> handler) override;
    void async_release_files(lt::storage_index_t storage, std::function<void()> handler) override;
    void async_stop_torrent(lt::storage_index_t storage, std::function<void()> handler) override;
    void async_move_storage(lt::storage_index_t storage, std::string path, lt::move_flags_t flags,
        std::function<void(lt::status_t, const std::string&, const lt::storage_error&)> handler) override;
    void async_rename_file(lt::storage_index_t storage, lt::file_index_t file, std::string name,
        std::function<void(const std::string&, lt::file_index_t, const lt::storage_error&)> handler) override;
    void async_delete_files(lt::storage_index_t storage, lt::remove_flags_t options, WriteHandler handler) override;
    void async_set_file_priority(lt::storage_index_t storage, lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities,
        std::function<void(const lt::storage_error&, lt::aux::vector<lt::download_priority_t, lt::file_index_t>)> handler) override;
    void update_stats_counters(lt::counters& counters) const override;
    [[nodiscard]] std::vector<lt::open_file_state> get_status(lt::storage_index_t storage) const override;
    void abort(bool wait) override;
    void submit_jobs() override;
    void settings_updated() override;

protected:
    struct Torrent {
        std::shared_ptr<const DiskContent> content;
        bool failed = false;         // told, and not resumed yet
        bool closing = false;        // takes nothing more
        std::vector<bool> verified;  // pieces that are never written again
        [[nodiscard]] std::uint32_t length(std::uint32_t piece) const { return content->layout->place({piece}).length; }
        [[nodiscard]] PieceStorage& storage() const { return *content->storage; }
    };
    // A piece or run of a torrent.
    struct Place {
        std::uint32_t storage = 0;
        std::uint32_t piece = 0;
        std::uint32_t run = 0;
        auto operator<=>(const Place&) const = default;
    };

    // That a neighbour waits for.
    struct Read {
        lt::peer_request request;
        ReadHandler handler;
    };

    [[nodiscard]] Torrent* torrent(std::uint32_t storage);
    [[nodiscard]] std::vector<std::uint32_t> storages_of(const RevisionId& revision) const;
    // The storage failed: told, unless it was already.
    void fail(Torrent& of, const Error& error);

    // `length` bytes at `offset` of adjacent slots without a copy; returned() is called for the slot when libtorrent has sent them.
    lt::disk_buffer_holder lend(std::size_t slot, std::size_t offset, int length);
    // A copy of `bytes`, followed by zeros where a request reaches into a torrent's padding. For requests that lend() does not fit, and when so much is lent
    // that slow neighbours could keep the whole arena.
    lt::disk_buffer_holder copy(ConstBytes bytes, int length);
    void refuse(std::vector<Read> reads);
    virtual void returned(std::size_t slot) = 0;
    // The torrent takes nothing more: answers all that waits for it.
    virtual void let_go(std::uint32_t storage) = 0;
    void free_disk_buffer(char* buffer) override;

    // Hashes a piece from storage, which must have it.
    void hash_stored(std::uint32_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, HashHandler handler);
    // Reads a part of a piece from storage into memory of its own.
    void read_stored(std::uint32_t storage, const lt::peer_request& request, ReadHandler handler);

    template <typename Handler>
    void answer(Handler handler)
    {
        network_->post(std::move(handler));
    }

    std::shared_ptr<NetworkThread> network_;
    DiskSink& sink_;
    Arena arena_;
    ReadUnit unit_;

private:
    // With the bytes, or the failure; that of a torrent that is gone or closing is `interrupted`.
    using Done = std::function<void(const Result<std::vector<std::byte>>&)>;
    struct Fetch {
        std::uint32_t storage = 0;
        Done done;
    };
    // Reads bytes on a disk thread, and hands them to `done` on the network thread. What waits stays here, not in the job, so that it can be answered
    // while a read is stuck.
    void fetch(std::uint32_t storage, std::uint32_t piece, std::uint32_t offset, std::uint32_t length, Done done);
    void fetched(std::uint64_t id, const Result<std::vector<std::byte>>& bytes);

    std::map<std::uint32_t, Torrent> torrents_;
    std::uint32_t next_storage_ = 0;
    std::map<std::uint64_t, Fetch> fetches_;
    std::uint64_t next_fetch_ = 0;

protected:
    DiskWorkers workers_;  // last: ends before what its jobs' ends refer to
};

}  // namespace shoal::swarm
