// Who should know whom in one swarm: near ones first, some far and some random ones, so that the graph stays connected, and every seeder with those that
// lack part of the revision. A pure decision: facts, time and randomness come in. Edges stay until there is a reason to end them. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/random.hpp"
#include "common/policy/indexed_set.hpp"
#include "common/policy/place.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace shoal::policy {

enum class Role : std::uint8_t { peer, seeder };

struct Received {
    PeerId from;
    std::uint64_t bytes = 0;
};

// What the choice needs to know of a member of the swarm.
struct Standing {
    Role role = Role::peer;  // a seeder is one that can serve
    bool complete = false;   // holds all of the revision
    bool dialable = true;
    Place place;
    std::uint64_t bytes_have = 0;
};

struct HandoutLimits {
    std::size_t target = 40;  // neighbours that everybody seeks; measured: 40 are as good as all
    std::size_t floor = 24;   // who has fewer also gets such as have enough already
    std::size_t most = 64;    // nobody is pushed beyond, unless a newcomer would have fewer than `least`; then twice as many
    std::size_t least = 4;
    std::size_t rack = 12;          // of them from the own rack
    std::size_t outside = 6;        // of them from other zones
    std::size_t random = 4;         // of them from anywhere
    std::size_t seeders = 8;        // next to one peer
    std::size_t at_a_seeder = 200;  // peers next to one seeder: those that lack part first
    std::size_t replaced = 4;       // silent neighbours exchanged at once
};

class Handout {
public:
    struct Link {
        PeerId peer;
        bool dial = true;  // the owner of the list connects; else it only admits
    };
    struct Change {
        PeerId peer;
        bool urgent = false;  // its first neighbour, or a seeder: it can start
    };

    explicit Handout(HandoutLimits limits = {}) : limits_{limits} {}

    // Joins, or is as told now; tops up its neighbours.
    void put(const PeerId& peer, const Standing& standing, TimePoint now, Random& random);
    void remove(const PeerId& peer, Random& random);
    // What `peer` received since it last told. A neighbour that could give and gave nothing for two periods, in which the peer got nothing at all, is exchanged.
    void heard(const PeerId& peer, const std::vector<Received>& received, TimePoint now, Duration period, Random& random);
    void refresh(const PeerId& peer);  // its address or key changed: its neighbours must be told

    [[nodiscard]] std::vector<Link> neighbours(const PeerId& peer) const;
    [[nodiscard]] bool lacks(const PeerId& peer) const;  // it is a peer here and has not all
    [[nodiscard]] std::size_t size() const { return slots_.size(); }
    [[nodiscard]] std::size_t lacking() const { return lacking_.all.size(); }  // peers that have not all of it
    [[nodiscard]] std::size_t seeders() const { return seeders_.size(); }
    [[nodiscard]] std::size_t complete() const { return complete_.all.size(); }  // peers that have all of it
    [[nodiscard]] std::vector<Change> take_changes();                            // whose neighbours are others than at the last call

private:
    using Slot = std::uint32_t;
    using Group = IndexedSet<Slot>;
    struct Edge {
        Slot other = 0;
        bool mine = true;  // this side came later and dials
        std::uint8_t silent = 0;
        std::uint64_t bytes = 0;  // in the current period
    };
    struct Node {
        PeerId peer;
        Standing standing;
        std::vector<Edge> edges;
        std::size_t peers = 0;  // edges to peers, not to seeders
        TimePoint period_began;
        std::uint64_t had = 0;     // bytes at that time
        std::deque<PeerId> avoid;  // exchanged before
    };
    struct Groups {  // the peers of one kind
        Group all;
        std::map<std::string, Group> zones;
        std::map<Place, Group> racks;
    };
    using Sources = std::vector<const Group*>;
    enum class Scope { rack, zone, outside, anywhere };
    struct Search {
        Scope scope = Scope::anywhere;
        std::size_t count = 0;  // at most
        std::size_t most = 0;   // neighbours that who is found may have, the new one included
    };

    Slot enter(const PeerId& peer, const Standing& standing, TimePoint now);
    void update(Slot slot, const Standing& standing);
    void connect(Slot slot, Random& random);
    void end_all();
    void join_groups(Slot slot);
    void leave_groups(Slot slot);
    Groups& groups_of(const Node& node) { return node.standing.complete ? complete_ : lacking_; }

    void link(Slot from, Slot to);
    void unlink(Slot a, Slot b);
    void unlink_where(Slot slot, bool (*useless)(const Node& self, const Node& other));
    [[nodiscard]] const Edge* find_edge(Slot from, Slot to) const;
    void mark(Slot slot, bool urgent);
    [[nodiscard]] bool dials(const Node& self, const Edge& edge) const;

    void link_seeders(Slot peer, Random& random);
    void link_to_seeder(Slot peer, Slot seeder);
    void fill_seeder(Slot seeder, Random& random);
    bool make_room(Slot seeder);

    void top_up(Slot slot, Random& random);
    void grow(Slot slot, const Search& search, Random& random);
    [[nodiscard]] std::vector<Slot> choose(Slot slot, const Search& search, Random& random) const;
    [[nodiscard]] std::vector<Slot> draw(Slot slot, const Search& search, Random& random) const;
    [[nodiscard]] Sources sources_for(const Node& node, Scope scope) const;
    [[nodiscard]] bool may_link(Slot slot, Slot other, std::size_t most) const;
    [[nodiscard]] std::size_t count(const Node& node, Scope scope) const;

    bool close_period(Slot slot);
    void exchange_silent(Slot slot, Random& random);

    HandoutLimits limits_;
    std::vector<Node> nodes_;
    std::vector<Slot> free_;
    std::unordered_map<PeerId, Slot> slots_;
    Groups lacking_, complete_;
    Group seeders_;
    std::size_t edges_ = 0;
    std::unordered_map<Slot, bool> changed_;  // to urgent
};

}  // namespace shoal::policy
