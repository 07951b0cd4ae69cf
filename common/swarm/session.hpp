// A process's place in the swarms: one libtorrent session with our disk backend and admission. All calls from the owner's loop.
// Inside there are libtorrent's network thread, which owns all state, and a few disk threads, which call PieceStorage. Calls are posted to the network
// thread; open(), add(), stats() and lacking() wait for its answer, a few milliseconds, since nothing ever blocks it. What happens comes back through poll() after
// `notify`, which is called from any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/torrent.hpp"
#include "common/swarm/events.hpp"
#include "common/swarm/member.hpp"
#include "common/swarm/piece_storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::swarm {

struct SessionOptions {
    Kind kind = Kind::peer;
    PeerId peer;
    MemberKey key;
    std::vector<std::string> listen;   // "addr:port"; port 0 takes any
    bool any_port_if_taken = false;    // fetch: another port when that one is in use
    std::uint64_t download_limit = 0;  // bytes/s, 0: none. Hold on private addresses too
    std::uint64_t upload_limit = 0;
    std::uint64_t buffer_bytes = 64U << 20U;  // the disk backend's arena (peer: runs; seeder: verified pieces, 32 MiB at least)
    std::function<void()> notify;             // something waits in poll()
};

// A revision to hold, fetch or serve.
struct Torrent {
    RevisionId revision;
    std::shared_ptr<const model::Layout> layout;  // pieces() >= 1
    std::shared_ptr<const model::Layers> layers;
    model::SwarmKey swarm_key;
    std::shared_ptr<PieceStorage> storage;
    std::vector<bool> have;  // by piece: verified and readable from storage
    std::vector<bool> want;  // by piece; empty: all
};

class Session {
public:
    // Fails with not_allowed or io when no listen address can be bound, naming it; with invalid for an address that is none.
    static Result<std::unique_ptr<Session>> open(SessionOptions options);
    // At most 2 s: what waits for the storage is answered first, and then a disk thread has 1.5 s to come back from a read or write. One that is stuck in
    // a dead storage is let go, with the storage and memory it uses.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] std::uint16_t port() const;  // of the first listen address
    Result<void> add(Torrent torrent);         // exists: it was added already; internal: layout and layers do not make a torrent
    void remove(const RevisionId& revision);   // its storage is let go when the last read or write has ended
    void resume(const RevisionId& revision);   // after StorageFailed
    void let_in(Strangers strangers);          // kept out until it is said otherwise
    // All of them, each time. Others are hung up on, but not while the list is empty.
    void set_members(const RevisionId& revision, const std::vector<Member>& members, const std::string& zone = {});  // `zone`: our own; empty: unknown
    // Of a seeder's: all seeders of the revision, which split its pieces among them, and how many copies may leave them together.
    void set_seeders(const RevisionId& revision, std::vector<PeerId> seeders, std::uint32_t copies = 1);
    // Of a peer's: a verified piece that the owner has read from the store, which is hashed and written as if a neighbour had sent it. PieceVerified or
    // PieceRefused follows; bytes that are not the piece end in StorageFailed (integrity).
    void give(const RevisionId& revision, PieceIndex piece, std::vector<char> bytes);
    [[nodiscard]] std::vector<Event> poll();
    // Nothing: the revision is not joined, or the network thread does not answer within 0.5 s; what was known before holds then.
    [[nodiscard]] std::optional<TorrentStats> stats(const RevisionId& revision);
    [[nodiscard]] std::optional<Lacking> lacking(const RevisionId& revision);

private:
    struct Impl;
    explicit Session(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::swarm
