// What the tracker knows and says: beats in, replies out. The roster, a hand-out for each revision, and who must hear of what. Pure: time and randomness come
// in. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/random.hpp"
#include "common/policy/handout.hpp"
#include "common/wire/beat.hpp"
#include "tracker/journal.hpp"
#include "tracker/news.hpp"
#include "tracker/origin_shares.hpp"
#include "tracker/roster.hpp"
#include "tracker/topology.hpp"

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal::tracker {

// A stock BitTorrent client, known by its announces alone.
struct Stranger {
    PeerId peer;  // made from what it calls itself
    std::string endpoint;
    bool complete = false;
    bool operator==(const Stranger&) const = default;
};

// A revision that some live process holds or wants.
struct Swarm {
    std::string model;
    std::uint64_t bytes = 0;
    policy::Handout handout;                    // seeders that can serve it, and peers
    std::unordered_set<PeerId> members;         // all with a holding of it
    std::set<PeerId> withdrawn;                 // seeders that found the origin's bytes wrong
    std::vector<Stranger> strangers;            // only where stock clients are allowed
    [[nodiscard]] std::size_t wanting() const;  // who lack part of it
};

// What the seeders of this tracker may take together from the origin.
struct OriginTerms {
    std::uint64_t limit = 0;   // reads of the object store, bytes/s; 0: none
    std::uint32_t copies = 1;  // of a revision, that may leave the seeders
};

class Switchboard {
public:
    Switchboard(Duration beat, Topology topology, std::uint64_t seed, TimePoint started, OriginTerms origin = {}, RosterLimits limits = {});

    enum class Answer { now, may_wait };  // a refusal, a question for a full beat, a farewell and what was overtaken do not wait for news
    Answer take(const wire::Beat& beat, const std::string& remote, TimePoint now, wire::Reply& reply);
    // All that the process must know now.
    [[nodiscard]] wire::Reply reply(const PeerId& peer, TimePoint now) const;
    void told(const PeerId& peer, TimePoint now);  // it has had that reply, and waits for none
    void hold(const PeerId& peer, TimePoint until, TimePoint now);
    [[nodiscard]] std::optional<TimePoint> next_release() const { return news_.next(); }
    [[nodiscard]] std::vector<PeerId> release(TimePoint now);  // whose held reply is due
    [[nodiscard]] std::vector<PeerId> expire(TimePoint now);   // who has gone silent
    void let_strangers_in() { strangers_allowed_ = true; }     // and say so in every reply
    // The stock clients of a swarm, all of them; where one lacks part, seeders hear of it as of any wish.
    void set_strangers(const RevisionId& revision, const std::string& model, std::vector<Stranger> strangers, TimePoint now);

    [[nodiscard]] const TrackerId& id() const { return id_; }
    [[nodiscard]] Duration beat() const { return beat_; }
    [[nodiscard]] bool young(TimePoint now) const { return now - started_ < 2 * beat_; }
    [[nodiscard]] const Roster& roster() const { return roster_; }
    [[nodiscard]] const std::map<RevisionId, Swarm>& swarms() const { return swarms_; }
    [[nodiscard]] const Journal& journal() const { return journal_; }
    [[nodiscard]] std::size_t waiting() const { return news_.waiting(); }

private:
    void hear_origin(const wire::Beat& beat, TimePoint now);
    void tell_all(const std::vector<PeerId>& peers, TimePoint now);
    void settle(const std::vector<Touched>& touched, const std::vector<PeerId>& gone, TimePoint now);
    void settle(Swarm& swarm, const Touched& touched, TimePoint now);
    void join(Swarm& swarm, const Member& member, const wire::Holding& holding, TimePoint now);
    void leave(Swarm& swarm, const PeerId& peer);
    void withdraw(Swarm& swarm, const Member& seeder, const wire::Holding& holding, TimePoint now);
    void record(const char* what, const PeerId& peer, const std::string& node, TimePoint now, const wire::Holding* holding = nullptr);
    void announce_changes(const RevisionId& revision, Swarm& swarm, std::size_t wanted_before, TimePoint now);
    void hear_received(const Member& member, const wire::Beat& beat, TimePoint now);
    [[nodiscard]] wire::Reply blank(TimePoint now) const;
    [[nodiscard]] wire::Swarm describe(const RevisionId& revision, const Swarm& swarm, const Member& member, std::size_t& room) const;
    void tell_withdrawal(const Swarm& swarm, wire::Swarm& said) const;
    [[nodiscard]] std::vector<PeerId> serving(const RevisionId& revision) const;  // seeders
    void reshare(const Swarm& swarm, TimePoint now);
    [[nodiscard]] std::vector<wire::Wish> wishes_for(const Member& seeder) const;

    Duration beat_;
    Topology topology_;
    Random random_;
    TimePoint started_;
    TrackerId id_;
    Roster roster_;
    News news_;
    std::map<RevisionId, Swarm> swarms_;
    std::set<PeerId> seeders_;  // processes
    std::uint32_t origin_copies_;
    OriginShares origin_;
    Journal journal_;
    bool strangers_allowed_ = false;
};

}  // namespace shoal::tracker
