// A process's place in the swarms: one libtorrent session with our disk backend and admission. All calls from the owner's loop; libtorrent's and the
// disk's threads stay inside. What happens comes back through poll() after `notify`, which is called from any thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/torrent.hpp"
#include "common/swarm/piece_storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shoal::swarm {

enum class Kind { peer, seeder };

struct SessionOptions {
    Kind kind = Kind::peer;
    PeerId peer;
    MemberKey key;
    std::vector<std::string> listen;   // "addr:port"; port 0 takes any
    bool any_port_if_taken = false;    // fetch: another port when that one is in use
    bool stock_clients = false;        // admit who shows no key
    std::uint64_t download_limit = 0;  // bytes/s, 0: none. Hold on private addresses too
    std::uint64_t upload_limit = 0;
    std::uint64_t buffer_bytes = 64U << 20U;  // the disk backend's arena (peer: runs; seeder: verified pieces)
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

// Who may be connected, and whom to dial.
struct Member {
    PeerId peer;
    MemberKey key;
    bool seeder = false;
    bool dial = true;
    std::vector<std::string> endpoints;  // "addr:port"
};

// Events
struct PieceVerified {
    RevisionId revision;
    PieceIndex piece;
};  // hashed, equal, written (not synced)
struct PieceFailed {
    RevisionId revision;
    PieceIndex piece;
};  // some peer sent wrong bytes
struct PeerBanned {
    RevisionId revision;
    std::string endpoint;
};
struct Complete {
    RevisionId revision;
};  // all wanted pieces verified
struct StorageFailed {
    RevisionId revision;
    Error error;
};  // reading or writing failed; the torrent is paused until resume()
struct ListenFailed {
    std::string endpoint;
    std::string cause;
};
using Event = std::variant<PieceVerified, PieceFailed, PeerBanned, Complete, StorageFailed, ListenFailed>;

struct TorrentStats {
    std::uint64_t bytes_have = 0;  // wanted and verified, bytes
    std::uint64_t bytes_wanted = 0;
    std::uint64_t from_origin = 0;  // payload from seeders, since add()
    std::uint64_t from_peers = 0;
    std::uint64_t sent = 0;
    std::uint64_t download_rate = 0;  // bytes/s
    std::uint64_t upload_rate = 0;
    int connections = 0;                                     // admitted
    int needing_us = 0;                                      // connected, incomplete, lacking a piece that only we have among those connected
    std::vector<std::pair<PeerId, std::uint64_t>> received;  // payload by neighbour since add()
    std::uint32_t pieces_nobody_has = 0;                     // wanted, not held by us nor by any connected member
};

class Session {
public:
    // Fails with not_allowed or io when no listen address can be bound, naming it.
    static Result<std::unique_ptr<Session>> open(SessionOptions options);
    ~Session();  // at most 2 s
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] std::uint16_t port() const;  // of the first listen address
    Result<void> add(Torrent torrent);
    void remove(const RevisionId& revision);  // its storage is let go when the last read or write has ended
    void resume(const RevisionId& revision);  // after StorageFailed
    void set_members(
        const RevisionId& revision, const std::vector<Member>& members);  // all of them, each time; others are hung up on, but not while the list is empty
    [[nodiscard]] std::vector<Event> poll();
    [[nodiscard]] TorrentStats stats(const RevisionId& revision);

private:
    struct Impl;
    explicit Session(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::swarm
