// What a session tells its owner. Values.
#pragma once

#include "common/core/error.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace shoal::swarm {

// Hashed, equal, written (not synced).
struct PieceVerified {
    RevisionId revision;
    PieceIndex piece;
};
// Some peer sent wrong bytes; the piece is fetched again.
struct PieceFailed {
    RevisionId revision;
    PieceIndex piece;
};
// For wrong bytes; told apart from others at its address.
struct PeerBanned {
    RevisionId revision;
    std::string endpoint;
};
// A piece that was given could not be taken now: it may be given again.
struct PieceRefused {
    RevisionId revision;
    PieceIndex piece;
};
// All wanted pieces are verified.
struct Complete {
    RevisionId revision;
};
// Reading or writing failed, or libtorrent met an error of its own (internal); the torrent is paused until resume().
struct StorageFailed {
    RevisionId revision;
    Error error;
};
struct ListenFailed {
    std::string endpoint;
    std::string cause;
};
using Event = std::variant<PieceVerified, PieceFailed, PieceRefused, PeerBanned, Complete, StorageFailed, ListenFailed>;

struct TorrentStats {
    std::uint64_t bytes_have = 0;  // wanted and verified, bytes
    std::uint64_t bytes_wanted = 0;
    std::uint64_t from_origin = 0;  // payload from seeders and what was given, since add()
    std::uint64_t given = 0;        // of it: by Session::give()
    std::uint64_t from_peers = 0;
    std::uint64_t sent = 0;
    std::uint64_t download_rate = 0;                         // bytes/s
    int connections = 0;                                     // admitted
    int needing_us = 0;                                      // connected, incomplete, lacking a piece that only we have among those connected
    std::vector<std::pair<PeerId, std::uint64_t>> received;  // payload by neighbour since add()
    std::uint32_t pieces_nobody_has = 0;                     // wanted, not held by us nor by any connected member
    bool seeder_connected = false;
};

// The wanted pieces that are not here.
struct Lacking {
    std::vector<PieceIndex> nobodys;  // held by no connected member
    std::vector<PieceIndex> held;     // by some
    std::vector<PeerId> peers;        // connected members, no seeders
};

}  // namespace shoal::swarm
