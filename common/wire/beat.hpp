// The control messages between node programs and trackers (docs/protocol.md): msgpack maps with string keys, unknown keys ignored. Values; any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"
#include "common/core/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shoal::wire {

inline constexpr std::uint32_t protocol_version = 1;  // understood: this one, the one before, the one after
constexpr bool understood(std::uint32_t version)
{
    return version + 1 >= protocol_version && version <= protocol_version + 1;
}
inline constexpr std::size_t max_beat_bytes = 4U << 20U;
inline constexpr std::size_t max_reply_bytes = 4U << 20U;

enum class Role : std::uint8_t { peer = 0, seeder = 1 };

enum class HoldState : std::uint8_t {
    wanted = 0,  // asked for, nothing moves yet
    fetching = 1,
    held = 2,       // whole and verified (of a seeder: can be served)
    withdrawn = 3,  // of a seeder: the origin lacks something of it, or holds other bytes; `trouble` says which
};

// One revision of one process.
struct Holding {
    RevisionId revision;
    std::string model;
    HoldState state = HoldState::wanted;
    std::uint64_t bytes_total = 0;
    std::uint64_t bytes_have = 0;   // verified
    std::uint64_t from_origin = 0;  // bytes received from seeders (of a seeder: read from the store), since the process started
    std::uint64_t from_peers = 0;
    std::uint64_t sent = 0;
    std::uint64_t rate = 0;  // bytes/s received, now
    std::string trouble;     // why it waits or was withdrawn; empty if all is well
    bool missing = false;    // withdrawn because something of it is gone, not because it is wrong
    bool operator==(const Holding&) const = default;
};

// Bytes received from a neighbour since the last beat; liveness is bytes.
struct Received {
    PeerId from;
    std::uint64_t bytes = 0;
    bool operator==(const Received&) const = default;
};

inline constexpr std::size_t max_trackers = 64;  // that a seeder confirms slices of

inline constexpr std::chrono::seconds origin_slice_lasts{30};

// A part of the ceiling on reads of the object store, for one seeder; it ends 30 s after that has heard it, unless it hears it again.
struct OriginSlice {
    std::uint64_t rate = 0;    // bytes/s
    std::uint64_t number = 0;  // counts what this tracker has granted to this seeder; 0: nothing yet
    bool operator==(const OriginSlice&) const = default;
};

struct Confirmed {
    TrackerId tracker;
    std::uint64_t number = 0;  // of the last slice that was heard of it
    bool operator==(const Confirmed&) const = default;
};

struct Workload {  // for whom a fetch runs; all may be empty
    std::string pod_namespace, pod_name, pod_uid, workload;
    bool operator==(const Workload&) const = default;
};

struct Beat {
    std::uint32_t version = protocol_version;
    PeerId peer;
    std::uint64_t instance = 0;  // random at process start: tells two processes with one peer id apart
    MemberKey key;
    Role role = Role::peer;
    std::uint64_t sequence = 0;          // counts beats to this tracker
    bool full = true;                    // holdings are all there are; else those that changed since the last answered beat
    bool leaving = false;                // the process ends: forget it at once
    bool dialable = true;                // others may dial `port`
    std::uint16_t port = 0;              // BitTorrent
    std::vector<std::string> addresses;  // to dial; empty: where the beat came from
    std::string software, node, zone, rack;
    std::map<std::string, std::string> labels;
    Workload workload;
    std::vector<Holding> holdings;
    std::vector<RevisionId> dropped;  // no longer held or wanted (deltas only)
    std::vector<Received> received;
    std::uint64_t origin_rate = 0;  // of a seeder: the least of the slices of the origin's ceiling that it holds, bytes/s; 0: none
    bool origin_busy = false;       // it reads
    std::vector<Confirmed> origin_confirmed;
    std::uint32_t wait_ms = 0;  // hold the reply until there is news, so long at most
    bool operator==(const Beat&) const = default;
};

enum class Nearness : std::uint8_t { rack = 0, zone = 1, remote = 2 };

struct Neighbour {
    PeerId peer;
    MemberKey key;
    Role role = Role::peer;
    Nearness nearness = Nearness::remote;
    bool dial = true;  // connect to it; else only admit it
    bool complete = false;
    std::vector<std::string> endpoints;  // "addr:port", "[addr6]:port"
    bool dialable = true;                // by others: it is counted on to hand on what it gets
    bool holds_some = false;             // of the revision
    std::string zone{};                  // empty: unknown
    bool operator==(const Neighbour&) const = default;
};

struct Swarm {  // per revision that the beat held or wanted
    RevisionId revision;
    std::string model;
    std::vector<Neighbour> neighbours;  // all of them, each time
    std::string withdrawn;              // why no seeder serves it any more; empty otherwise
    std::uint32_t wanting = 0;          // live processes that have not all of it: a lingering fetch may leave at 0
    std::vector<PeerId> seeders;        // to a seeder: those that serve it, itself included
    bool missing = false;               // it was withdrawn because something of it is gone
    bool operator==(const Swarm&) const = default;
};

struct Wish {  // to seeders: somebody wants it
    RevisionId revision;
    std::string model;
    bool operator==(const Wish&) const = default;
};

struct Reply {
    std::uint32_t version = protocol_version;
    TrackerId tracker;
    std::uint32_t beat_ms = 3000;  // until the next beat
    bool need_full = false;        // this tracker lacks the base of a delta: send all, now
    std::string refusal;           // the beat was not taken: why (version, or a second process with this peer id)
    std::string warning;           // the beat was taken, but something is wrong that people must see (a second process with this peer id)
    bool stock_clients = false;    // the operator lets plain BitTorrent clients join: admit those who show no key
    bool young = false;            // the tracker started less than two beats ago: `neighbours` add to those known, `wanting` is the least there are
    std::string zone, rack;        // what the tracker's topology says of the sender
    std::vector<Swarm> swarms;
    std::vector<Wish> wishes;
    bool origin_capped = false;       // to a seeder: there is a ceiling on reads of the object store
    OriginSlice origin;               // and this is its part
    std::uint32_t origin_copies = 1;  // to a seeder: of a revision, that may leave the origin
    bool operator==(const Reply&) const = default;
};

std::string encode(const Beat& beat);
std::string encode(const Reply& reply);
// Limits: bytes as above, 4096 holdings, 256 neighbours a swarm, 64 labels, 16 addresses, strings of 4096 bytes, depth 8. Fails with malformed or too_large; never throws.
// Of a message whose version is not understood() only the version is read: whoever gets it refuses it, naming both.
Result<Beat> decode_beat(ConstBytes bytes);
Result<Reply> decode_reply(ConstBytes bytes);

}  // namespace shoal::wire
