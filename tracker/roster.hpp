// Who is alive, where, and what each holds and wants: soft state, all of it from beats. Time comes in. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/wire/beat.hpp"
#include "tracker/topology.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace shoal::tracker {

// A process. Its peer id is its identity, its address is not.
struct Member {
    wire::Beat beat;                     // the last one, without its holdings, dropped and received
    Place place;                         // from the beat, else from the topology
    std::vector<std::string> endpoints;  // to dial
    bool dialable = false;               // says so, and has an endpoint of its own
    std::unordered_map<RevisionId, wire::Holding> holdings;
    TimePoint heard{};   // its last beat, or the end of the last held reply
    bool waits = false;  // a reply is held for it, so it is alive

    [[nodiscard]] const PeerId& id() const { return beat.peer; }
    [[nodiscard]] bool is_seeder() const { return beat.role == wire::Role::seeder; }
    [[nodiscard]] std::string node() const;  // the machine's name; of one that gives none, its peer id
};

struct RosterLimits {
    std::size_t members = 20'000;
    std::size_t holdings = 500'000;  // of all members
    std::size_t text = 255;          // bytes of a name, zone, rack and their kind
    std::size_t labels = 4096;       // bytes of one member's labels
    std::size_t trouble = 1024;      // bytes; the rest is cut
    std::size_t addresses = 4;       // the rest is not used
};

// A holding that may have changed, or is gone; also of members that had to go.
struct Touched {
    PeerId peer;
    RevisionId revision;
};

struct Taken {
    enum class Kind {
        taken,
        overtaken,  // by a later one on another connection: nothing of it is taken
        need_full,
        refused,
        left
    } kind = Kind::taken;
    std::string refusal;
    std::vector<Touched> touched;
    std::vector<PeerId> gone;  // members that this beat ended: an older one at the same endpoint, or the sender that leaves
    bool moved = false;        // the sender is new, or its key, endpoints or place are others than before
};

struct Expired {
    std::vector<Touched> touched;
    std::vector<PeerId> gone;
};

class Roster {
public:
    explicit Roster(Duration beat, RosterLimits limits = {}) : beat_{beat}, limits_{limits} {}

    // `remote` is where the beat came from, `place` what the topology says of the sender.
    Taken take(const wire::Beat& beat, const std::string& remote, const Place& place, TimePoint now);
    Expired expire(TimePoint now);                                               // those who missed two beats
    [[nodiscard]] std::string warning(const PeerId& peer, TimePoint now) const;  // what the process should know; mostly empty
    void set_waits(const PeerId& peer, bool waits, TimePoint now);

    [[nodiscard]] const Member* find(const PeerId& peer) const;
    [[nodiscard]] const wire::Holding* find(const PeerId& peer, const RevisionId& revision) const;
    [[nodiscard]] const std::unordered_map<PeerId, Member>& members() const { return members_; }

private:
    [[nodiscard]] std::string refusal(const wire::Beat& beat, const Member* known, const std::vector<std::string>& endpoints, TimePoint now);
    [[nodiscard]] std::string too_much(const wire::Beat& beat, const Member* known) const;
    [[nodiscard]] std::vector<std::string> endpoints_of(const wire::Beat& beat, const std::string& remote) const;
    static bool continues(const wire::Beat& beat, const Member* known);
    void settle_in(Member& member, const wire::Beat& beat, const Place& place, Taken& taken);
    [[nodiscard]] bool claim(const PeerId& peer, const std::vector<std::string>& endpoints, Taken& taken);
    void apply_holdings(Member& member, const wire::Beat& beat, std::vector<Touched>& touched);
    void drop(const PeerId& peer, std::vector<Touched>& touched, std::vector<PeerId>& gone);
    void release_endpoints(const Member& member);
    void remember_displaced(const PeerId& peer);

    Duration beat_;
    RosterLimits limits_;
    std::unordered_map<PeerId, Member> members_;
    std::unordered_map<std::string, PeerId> by_endpoint_;  // of dialable members
    std::size_t holdings_ = 0;
    std::unordered_map<PeerId, TimePoint> twins_;  // members that another process wanted to be, and when it last did
    std::deque<PeerId> displaced_;                 // the last that lost their endpoint to another
};

}  // namespace shoal::tracker
