// The seeder's side of dispatch on one torrent: tells the policy what happens on its connections, and shows to whom it says what. Network thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/model/layout.hpp"
#include "common/policy/dispatch.hpp"
#include "common/policy/uplink.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace shoal::swarm {

class Neighbour;

// A session's uplink, that all its torrents share.
struct SharedUplink {
    policy::Uplink uplink;
    std::size_t torrents = 1;  // that have something to show
    Random random{random_seed()};
};

class Showing {
public:
    // `expect`: a piece that was just shown will be asked for.
    Showing(const model::Layout& layout, std::shared_ptr<SharedUplink> shared, std::function<void(PieceIndex)> expect);

    // A member that heeds single pieces only; the rest is of such alone, and of others nothing is known. `want` is empty where it has not said.
    void joined(Neighbour& neighbour, policy::Joining joining, const std::vector<bool>& has, const std::vector<bool>& want);
    void left(Neighbour& neighbour);
    void wants(const Neighbour& neighbour, std::vector<bool> want);
    void has(const Neighbour& neighbour, PieceIndex piece);
    void lost(const Neighbour& neighbour, PieceIndex piece);
    void hungry(const Neighbour& neighbour);
    void show_again(Neighbour& neighbour);  // it could not heed what it was shown

    // Nothing is shown before these have joined, or 2 s have gone: what they hold is not read again.
    void wait_for(std::set<PeerId> holders);
    void share_with(const PeerId& own, const std::vector<PeerId>& seeders, std::uint32_t copies);  // the pieces, among them; `copies` may leave them
    void sent(const Neighbour& neighbour, std::uint32_t bytes);                                    // also to those that were never shown anything
    void second();
    [[nodiscard]] bool has_demand() const { return dispatch_.has_demand(); }

private:
    void pump();
    [[nodiscard]] std::optional<policy::PeerSlot> slot_of(const Neighbour& neighbour) const;

    std::uint32_t largest_;  // piece, bytes
    std::uint32_t pieces_;
    std::vector<PeerId> seeders_;
    std::shared_ptr<SharedUplink> shared_;
    std::function<void(PieceIndex)> expect_;
    policy::Dispatch dispatch_;
    std::set<PeerId> awaited_;
    TimePoint waits_until_;
    policy::PeerSlot next_slot_ = 0;
    std::unordered_map<const Neighbour*, policy::PeerSlot> slots_;
    std::unordered_map<policy::PeerSlot, Neighbour*> neighbours_;
};

}  // namespace shoal::swarm
