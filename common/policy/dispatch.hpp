// Which piece a seeder shows to which peer next, so that each piece leaves the origin once and the swarm spreads it (docs/dispatch.md). Pure: what happened,
// the time and chance come in, and what to show goes out. Not thread-safe.
//
// A peer asks the seeder only for what it was shown. The next piece goes to the peer whose uplink owes the swarm least: bytes shown to it and not yet
// received, and bytes that it alone holds. Fast uploaders so get more, without anybody being measured.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/random.hpp"
#include "common/policy/uplink.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace shoal::policy {

// A connection to a peer, named by the caller, which may use a number again after left().
using PeerSlot = std::uint32_t;

struct DispatchLimits {
    Duration stalled_after = std::chrono::seconds{3};   // without a byte taken, while bytes go to others: what it was shown goes to another
    Duration standing_after = std::chrono::seconds{8};  // the same while nothing goes to anybody
    Duration hunger = std::chrono::seconds{4};          // for so long hungry() holds, unless another gives it a piece
    Duration spread_within = std::chrono::seconds{2};   // and eight times as long as it usually takes: who has given nothing on by then is not counted on
    Duration late_after = std::chrono::seconds{1};      // shown, and not received: another may be shown it, too, when nothing else is left
    std::uint64_t extra_bytes = 0;                      // of all shows: pieces shown a second time on purpose, bytes
};

struct Joining {
    bool spreads = true;  // it is counted on to hand on what it gets; not so a peer that nobody can dial
    bool abroad = false;  // in another zone than the seeder: shown nothing while anybody of the seeder's zone is there, unless it is hungry
};

// Of `extra_bytes`: a hundredth of the revision may be shown twice on purpose, less what rounding adds.
constexpr std::uint64_t extra_bytes_of(std::uint64_t revision_bytes)
{
    return revision_bytes / 128;
}

class Dispatch {
public:
    struct Show {
        PeerSlot peer = 0;
        PieceIndex piece;
        bool operator==(const Show&) const = default;
    };

    // `piece_bytes` by piece.
    Dispatch(std::vector<std::uint32_t> piece_bytes, DispatchLimits limits);

    void joined(PeerSlot peer, Joining joining, TimePoint now);
    void left(PeerSlot peer);
    void wants(PeerSlot peer, std::vector<bool> want);  // by piece; all, unless it is said
    void has(PeerSlot peer, PieceIndex piece, TimePoint now);
    void lost(PeerSlot peer, PieceIndex piece);
    void sent(PeerSlot peer, TimePoint now);    // payload went to it
    void hungry(PeerSlot peer, TimePoint now);  // nobody gives it anything: it is shown what others hold, too

    // Which pieces are this seeder's to show, by piece; others are shown only to the hungry. All, unless it is said.
    void assign(std::vector<bool> mine);

    // How many copies may leave the origin, 1 at least: when nothing new is left to show, the rarest pieces are shown again. 1, unless it is said.
    void allow_copies(std::uint32_t copies);

    // At most `window` bytes are on their way after it.
    std::vector<Show> next(std::uint64_t window, TimePoint now, Random& random);

    [[nodiscard]] std::vector<std::uint32_t> shown(PeerSlot peer) const;  // to it, and not received yet
    [[nodiscard]] std::uint64_t in_flight() const { return flight_; }     // bytes shown to peers that take them, and not yet received
    [[nodiscard]] bool has_demand() const;                                // something is on its way, or somebody lacks what was shown to nobody
    [[nodiscard]] std::uint64_t extra_shown() const { return extra_; }

private:
    struct Peer {
        bool spreads = true;
        bool abroad = false;
        bool keeps = false;    // was counted on, and gave nothing on
        bool stalled = false;  // nothing is shown to it before it takes something, but one piece at a time while it is hungry
        std::vector<bool> has;
        std::vector<bool> want;  // empty: all
        std::size_t lacks = 0;   // wanted pieces
        std::set<std::uint32_t> shown;
        std::uint64_t shown_bytes = 0;
        Uplink taken;                  // how fast it receives what it is shown
        std::set<std::uint32_t> sole;  // it alone holds them, of those who spread
        std::uint64_t sole_bytes = 0;
        std::uint32_t from = 0;  // no fresh piece below it is wanted
        TimePoint joined;
        TimePoint moved;   // a byte was taken, or there was nothing to take
        TimePoint spread;  // one of its `sole` found a second holder, or there was none
        std::optional<TimePoint> hungry;
    };
    struct Piece {
        std::uint32_t holders = 0;  // that spread
        std::uint32_t shown = 0;    // to how many, outstanding
        TimePoint shown_at;         // the last time
        PeerSlot sole = 0;          // who that is, while `holders` is 1
        TimePoint sole_since;       // the same
        bool mine = true;
        std::uint32_t again = 0;  // how often it was shown on purpose when others had it
    };

    [[nodiscard]] bool wanted(const Peer& peer, std::uint32_t piece) const { return !peer.has[piece] && (peer.want.empty() || peer.want[piece]); }
    [[nodiscard]] bool is_hungry(const Peer& peer, TimePoint now) const { return peer.hungry && now - *peer.hungry < limits_.hunger; }
    [[nodiscard]] bool is_late(const Piece& piece, TimePoint now) const { return piece.shown == 1 && now - piece.shown_at > limits_.late_after; }
    bool has_room(Peer& peer, std::uint64_t window, std::uint32_t piece, TimePoint now) const;
    std::optional<std::uint32_t> fresh_for(Peer& peer) const;
    [[nodiscard]] std::optional<std::uint32_t> held_for(const Peer& peer, TimePoint now) const;
    template <typename PieceFor>
    std::optional<Show> choose_least_owing(const PieceFor& piece_for, std::uint64_t window, TimePoint now, Random& random);
    std::optional<Show> choose(std::uint64_t window, TimePoint now, Random& random);
    std::optional<Show> choose_extra(std::uint64_t window, TimePoint now, Random& random);
    std::optional<Show> choose_for(std::uint32_t piece, std::uint64_t window, TimePoint now, Random& random);
    std::optional<Show> choose_rarest(std::uint64_t window, TimePoint now, Random& random);
    [[nodiscard]] bool may_show_again(std::uint32_t piece) const;
    void show(const Show& show, TimePoint now);
    template <typename Which>
    void take_back(Peer& peer, const Which& which);
    void look_for_stalled(TimePoint now);
    void look_for_keepers(TimePoint now);
    void stop_counting_on(PeerSlot slot, Peer& peer);
    void gained(PeerSlot slot, const Peer& peer, std::uint32_t piece);
    void given_up(PeerSlot slot, const Peer& peer, std::uint32_t piece);
    void set_sole(PeerSlot slot, std::uint32_t piece, bool sole);
    void count_mine();
    void refresh(std::uint32_t piece);  // whether it is fresh

    std::vector<std::uint32_t> bytes_;
    DispatchLimits limits_;
    std::vector<Piece> pieces_;
    std::set<std::uint32_t> fresh_;  // ours, shown to nobody, and held by nobody who spreads
    std::unordered_map<PeerSlot, Peer> peers_;
    std::size_t spreaders_ = 0;
    std::size_t at_home_ = 0;
    std::size_t keepers_ = 0;  // were counted on, and gave nothing on
    Duration spread_time_{};   // how long a piece has one holder, on average
    std::uint64_t flight_ = 0;
    std::uint64_t extra_ = 0;
    std::uint64_t mine_ = 0;  // bytes of the pieces that are this seeder's to show
    std::uint32_t copies_ = 1;
    TimePoint last_sent_{};
    TimePoint now_{};  // the last that was heard
};

}  // namespace shoal::policy
