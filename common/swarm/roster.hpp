// Which neighbours of a torrent are members, which are banned, and which have been silent too long. Decisions only; not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/swarm/member.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace shoal::swarm {

// What a neighbour showed of itself in the extension handshake.
struct Shown {
    PeerId peer;
    std::optional<MemberKey> key;
    Kind kind = Kind::peer;
    bool dispatch = false;  // a seeder that shows single pieces; a peer that heeds them
};

enum class Direction { dialled, accepted };  // by us
enum class Verdict { admitted, unknown, refused };

class Roster {
public:
    void assign(const std::vector<Member>& members);
    [[nodiscard]] const std::vector<Member>& members() const { return members_; }
    [[nodiscard]] const Member* find(const PeerId& peer) const;

    // Who was accepted must show the key that a tracker told of this peer. Who was dialled sits at an endpoint that a tracker named, and is asked only to be
    // the peer that was named: so the key is shown to no stranger who dials in, who could use it to pass for us. What is left is an endpoint that changed
    // hands and claims the old owner's peer id: it gets pieces, and the key of who dialled it. TLS closes that. A key of zeros is what a beat without one
    // leaves: it opens nothing.
    [[nodiscard]] Verdict judge(const Shown& shown, Direction direction, TimePoint now) const;

    void ban(const PeerId& peer) { banned_.insert(peer); }
    [[nodiscard]] bool banned(const PeerId& peer) const { return banned_.contains(peer); }
    // Sent nothing for too long while others could: left alone for a while, longer each time.
    void was_silent(const PeerId& peer, TimePoint now);
    [[nodiscard]] bool left_alone(const PeerId& peer, TimePoint now) const;

private:
    struct Silence {
        TimePoint until;
        Duration length{};
    };
    std::vector<Member> members_;
    std::unordered_map<PeerId, std::size_t> by_peer_;
    std::unordered_set<PeerId> banned_;
    std::unordered_map<PeerId, Silence> silent_;
};

}  // namespace shoal::swarm
