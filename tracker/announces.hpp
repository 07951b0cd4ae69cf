// Stock BitTorrent clients, known by their announces (BEP 3) until these expire. Pure: time comes in. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "tracker/switchboard.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::tracker {

// How BEP 52 names a v2 swarm to a tracker: the first 20 bytes of its info hash.
using ShortInfoHash = std::array<std::uint8_t, 20>;
ShortInfoHash shorten(const InfoHash& hash);

class Announces {
public:
    static constexpr Duration interval = std::chrono::seconds{30};  // that clients are asked to keep
    static constexpr Duration slowest = std::chrono::minutes{5};    // that many keep whatever they are asked (libtorrent's min_announce_interval)
    static constexpr std::size_t per_swarm = 200;
    static constexpr std::size_t in_all = 10'000;

    // False when there are too many: the client is not taken.
    bool announce(const RevisionId& revision, const Stranger& client, TimePoint now);
    void stop(const RevisionId& revision, const PeerId& client);
    [[nodiscard]] std::vector<RevisionId> expire(TimePoint now);  // swarms that have lost somebody
    [[nodiscard]] std::vector<Stranger> of(const RevisionId& revision) const;

    void know(const InfoHash& hash, const RevisionId& revision) { revisions_[shorten(hash)] = revision; }
    [[nodiscard]] std::optional<RevisionId> find(const ShortInfoHash& hash) const;

private:
    struct Entry {
        Stranger client;
        TimePoint until;
    };
    std::map<RevisionId, std::map<PeerId, Entry>> swarms_;
    std::size_t clients_ = 0;
    std::map<ShortInfoHash, RevisionId> revisions_;
};

// The bencoded answers. `endpoints` as printed by endpoint(); IPv4 go into "peers", IPv6 into "peers6" (BEP 7).
struct SwarmCounts {
    std::size_t complete = 0;
    std::size_t incomplete = 0;
};
std::string announce_answer(const SwarmCounts& counts, Duration interval, const std::vector<std::string>& endpoints);
std::string scrape_answer(const std::map<ShortInfoHash, SwarmCounts>& swarms);
std::string failure_answer(const std::string& reason);

}  // namespace shoal::tracker
