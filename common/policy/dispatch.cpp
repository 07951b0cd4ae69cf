#include "common/policy/dispatch.hpp"

#include <algorithm>
#include <utility>

namespace shoal::policy {
namespace {

constexpr auto all = [](std::uint32_t /*piece*/) { return true; };

}  // namespace

Dispatch::Dispatch(std::vector<std::uint32_t> piece_bytes, DispatchLimits limits) : bytes_{std::move(piece_bytes)}, limits_{limits}, pieces_(bytes_.size())
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) fresh_.insert(fresh_.end(), piece);
    count_mine();
}

void Dispatch::joined(PeerSlot slot, Joining joining, TimePoint now)
{
    Peer& peer = peers_[slot];
    peer.spreads = joining.spreads;
    peer.abroad = joining.abroad;
    peer.taken = Uplink{{.worth = std::chrono::milliseconds{700}, .least = 0}};
    spreaders_ += joining.spreads ? 1 : 0;
    at_home_ += joining.abroad ? 0 : 1;
    peer.has.assign(pieces_.size(), false);
    peer.lacks = pieces_.size();
    peer.moved = now;
    peer.joined = now;
}

void Dispatch::left(PeerSlot slot)
{
    const auto known = peers_.find(slot);
    if (known == peers_.end()) return;
    Peer& peer = known->second;
    take_back(peer, all);
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece)
        if (peer.has[piece]) given_up(slot, peer, piece);
    spreaders_ -= peer.spreads ? 1 : 0;
    at_home_ -= peer.abroad ? 0 : 1;
    keepers_ -= peer.keeps ? 1 : 0;
    peers_.erase(known);
}

void Dispatch::wants(PeerSlot slot, std::vector<bool> want)
{
    const auto known = peers_.find(slot);
    if (known == peers_.end() || want.size() != pieces_.size()) return;
    Peer& peer = known->second;
    peer.want = std::move(want);
    peer.from = 0;
    peer.lacks = 0;
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) peer.lacks += wanted(peer, piece) ? 1 : 0;
    take_back(peer, [&](std::uint32_t piece) { return !wanted(peer, piece); });
}

void Dispatch::has(PeerSlot slot, PieceIndex index, TimePoint now)
{
    const auto known = peers_.find(slot);
    if (known == peers_.end() || index.value >= pieces_.size()) return;
    Peer& peer = known->second;
    const std::uint32_t piece = index.value;
    if (peer.has[piece]) return;
    peer.lacks -= wanted(peer, piece) ? 1 : 0;
    peer.has[piece] = true;
    peer.moved = now;
    peer.stalled = false;
    if (peer.shown.erase(piece) == 0) {
        peer.hungry.reset();  // others feed it
    } else {
        peer.shown_bytes -= bytes_[piece];
        flight_ -= bytes_[piece];
        --pieces_[piece].shown;
        peer.taken.sent(bytes_[piece], now);
    }
    now_ = now;
    gained(slot, peer, piece);
}

void Dispatch::lost(PeerSlot slot, PieceIndex index)
{
    const auto known = peers_.find(slot);
    if (known == peers_.end() || index.value >= pieces_.size() || !known->second.has[index.value]) return;
    Peer& peer = known->second;
    given_up(slot, peer, index.value);
    peer.has[index.value] = false;
    peer.lacks += wanted(peer, index.value) ? 1 : 0;
}

void Dispatch::sent(PeerSlot slot, TimePoint now)
{
    last_sent_ = now;
    const auto known = peers_.find(slot);
    if (known == peers_.end()) return;
    known->second.moved = now;
    known->second.stalled = false;
}

void Dispatch::hungry(PeerSlot slot, TimePoint now)
{
    if (const auto known = peers_.find(slot); known != peers_.end()) known->second.hungry = now;
}

void Dispatch::assign(std::vector<bool> mine)
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
        pieces_[piece].mine = piece >= mine.size() || mine[piece];
        refresh(piece);
    }
    count_mine();
}

void Dispatch::count_mine()
{
    mine_ = 0;
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) mine_ += pieces_[piece].mine ? bytes_[piece] : 0;
}

void Dispatch::allow_copies(std::uint32_t copies)
{
    copies_ = std::max(copies, 1U);
}

std::vector<Dispatch::Show> Dispatch::next(std::uint64_t window, TimePoint now, Random& random)
{
    now_ = now;
    look_for_stalled(now);
    look_for_keepers(now);
    std::vector<Show> shows;
    for (auto chosen = choose(window, now, random); chosen; chosen = choose(window, now, random)) {
        show(*chosen, now);
        shows.push_back(*chosen);
    }
    if (!shows.empty() || !fresh_.empty()) return shows;
    for (auto chosen = choose_extra(window, now, random); chosen; chosen = choose_extra(window, now, random)) {
        extra_ += bytes_[chosen->piece.value];
        ++pieces_[chosen->piece.value].again;
        show(*chosen, now);
        shows.push_back(*chosen);
    }
    return shows;
}

std::vector<std::uint32_t> Dispatch::shown(PeerSlot slot) const
{
    const auto known = peers_.find(slot);
    return known == peers_.end() ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{known->second.shown.begin(), known->second.shown.end()};
}

bool Dispatch::has_demand() const
{
    return flight_ > 0 || (!fresh_.empty() && std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer.second.lacks > 0; }));
}

// What it receives in two thirds of a second, and half of what is under way at most, may be under way to one of several: neither a slow one nor one that
// falls silent holds the others up.
bool Dispatch::has_room(Peer& peer, std::uint64_t window, std::uint32_t piece, TimePoint now) const
{
    if (flight_ != 0 && flight_ + bytes_[piece] > window) return false;
    if (peers_.size() < 2 || peer.shown.size() < 2) return true;
    return peer.shown_bytes + bytes_[piece] <= std::min(window / 2, peer.taken.window(bytes_[piece], now));
}

std::optional<std::uint32_t> Dispatch::fresh_for(Peer& peer) const
{
    for (auto piece = fresh_.lower_bound(peer.from); piece != fresh_.end(); ++piece) {
        if (wanted(peer, *piece)) return *piece;
        peer.from = *piece + 1;
    }
    return std::nullopt;
}

// The rarest, and what another was shown only if it is late there, and to one more: the hungry are many at once, and each hands on what it gets.
std::optional<std::uint32_t> Dispatch::held_for(const Peer& peer, TimePoint now) const
{
    const auto rank = [&](std::uint32_t piece) { return std::pair{pieces_[piece].shown, pieces_[piece].holders}; };
    std::optional<std::uint32_t> best;
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
        if (!wanted(peer, piece) || (pieces_[piece].shown > 0 && !is_late(pieces_[piece], now)) || peer.shown.contains(piece)) continue;
        if (!best || rank(piece) < rank(*best)) best = piece;
    }
    return best;
}

// `piece_for` says what a peer could be shown.
template <typename PieceFor>
std::optional<Dispatch::Show> Dispatch::choose_least_owing(const PieceFor& piece_for, std::uint64_t window, TimePoint now, Random& random)
{
    std::optional<Show> best;
    std::uint64_t least = 0;
    for (auto& [slot, peer] : peers_) {
        if (peer.stalled && !(is_hungry(peer, now) && peer.shown.empty())) continue;  // who asks is tried with one piece
        const std::optional<std::uint32_t> piece = piece_for(peer);
        if (!piece || !has_room(peer, window, *piece, now)) continue;
        const std::uint64_t owed = 2 * (peer.shown_bytes + peer.sole_bytes) + random() % bytes_[*piece];
        if (best && owed >= least) continue;
        best = Show{slot, {*piece}};
        least = owed;
    }
    return best;
}

std::optional<Dispatch::Show> Dispatch::choose(std::uint64_t window, TimePoint now, Random& random)
{
    const auto piece_for = [&](Peer& peer) -> std::optional<std::uint32_t> {
        if (peer.lacks == peer.shown.size()) return std::nullopt;
        const bool hungry = is_hungry(peer, now);
        if (((!peer.spreads && spreaders_ > 0) || (peer.abroad && at_home_ > 0)) && !hungry) return std::nullopt;
        const std::optional<std::uint32_t> fresh = fresh_for(peer);
        return !fresh && hungry ? held_for(peer, now) : fresh;
    };
    return choose_least_owing(piece_for, window, now, random);
}

// The uplink has nothing else to do: what the one that is furthest behind alone holds or has yet to receive goes to whoever owes least.
std::optional<Dispatch::Show> Dispatch::choose_extra(std::uint64_t window, TimePoint now, Random& random)
{
    const auto is_less_behind = [](const auto& a, const auto& b) {
        return a.second.sole_bytes + a.second.shown_bytes < b.second.sole_bytes + b.second.shown_bytes;
    };
    const auto last = std::max_element(peers_.begin(), peers_.end(), is_less_behind);
    if (last == peers_.end()) return std::nullopt;
    for (const std::uint32_t piece : last->second.sole)
        if (pieces_[piece].shown == 0 && may_show_again(piece)) return choose_for(piece, window, now, random);
    for (const std::uint32_t piece : last->second.shown)
        if (is_late(pieces_[piece], now) && may_show_again(piece)) return choose_for(piece, window, now, random);
    return copies_ > 1 ? choose_rarest(window, now, random) : std::nullopt;
}

// To whoever owes least: of what was shown once, and is on its way to nobody.
std::optional<Dispatch::Show> Dispatch::choose_rarest(std::uint64_t window, TimePoint now, Random& random)
{
    if (pieces_.empty() || (flight_ > 0 && flight_ + bytes_.front() > window)) return std::nullopt;
    const auto piece_for = [&](const Peer& peer) -> std::optional<std::uint32_t> {
        std::optional<std::uint32_t> rarest;
        if (!peer.spreads || (peer.abroad && at_home_ > 0)) return rarest;
        for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
            if (!wanted(peer, piece) || !pieces_[piece].mine || pieces_[piece].shown > 0 || !may_show_again(piece)) continue;
            if (!rarest || pieces_[piece].holders < pieces_[*rarest].holders) rarest = piece;
        }
        return rarest;
    };
    return choose_least_owing(piece_for, window, now, random);
}

bool Dispatch::may_show_again(std::uint32_t piece) const
{
    return pieces_[piece].again < copies_ && extra_ + bytes_[piece] <= limits_.extra_bytes + (copies_ - 1) * mine_;
}

// Who has come since it was shown is the swarm's to feed.
std::optional<Dispatch::Show> Dispatch::choose_for(std::uint32_t piece, std::uint64_t window, TimePoint now, Random& random)
{
    const auto piece_for = [&](const Peer& peer) -> std::optional<std::uint32_t> {
        const bool takes =
            peer.joined <= pieces_[piece].shown_at && peer.spreads && (!peer.abroad || at_home_ == 0) && wanted(peer, piece) && !peer.shown.contains(piece);
        return takes ? std::optional{piece} : std::nullopt;
    };
    return choose_least_owing(piece_for, window, now, random);
}

void Dispatch::show(const Show& show, TimePoint now)
{
    const std::uint32_t piece = show.piece.value;
    Peer& peer = peers_.at(show.peer);
    if (peer.shown.empty()) peer.moved = now;
    peer.shown.insert(piece);
    peer.shown_bytes += bytes_[piece];
    flight_ += bytes_[piece];
    ++pieces_[piece].shown;
    pieces_[piece].shown_at = now;
    refresh(piece);
}

template <typename Which>
void Dispatch::take_back(Peer& peer, const Which& which)
{
    for (auto at = peer.shown.begin(); at != peer.shown.end();) {
        const std::uint32_t piece = *at;
        if (!which(piece)) {
            ++at;
            continue;
        }
        at = peer.shown.erase(at);
        flight_ -= bytes_[piece];
        peer.shown_bytes -= bytes_[piece];
        --pieces_[piece].shown;
        refresh(piece);
    }
}

void Dispatch::look_for_stalled(TimePoint now)
{
    for (auto& [slot, peer] : peers_) {
        if (peer.shown.empty()) continue;
        const Duration still = now - peer.moved;
        const bool others_move = last_sent_ - peer.moved >= limits_.stalled_after / 2;
        if (still < (others_move ? limits_.stalled_after : limits_.standing_after)) continue;
        take_back(peer, all);
        peer.stalled = peers_.size() > 1;
    }
}

// What somebody holds alone, and keeps to itself, the others never get: it is shown anew. Half of all may be found out so; beyond that it is not their fault.
void Dispatch::look_for_keepers(TimePoint now)
{
    const Duration allowed = std::max(limits_.spread_within, 8 * spread_time_);
    for (auto& [slot, peer] : peers_) {
        if (!peer.spreads || peer.sole.empty() || now - peer.spread < allowed) continue;
        const bool others_take = std::any_of(peers_.begin(), peers_.end(), [&, self = slot, sole = &peer.sole](const auto& entry) {
            const Peer& other = entry.second;
            return entry.first != self && !other.stalled && now - other.moved < allowed &&
                   std::any_of(sole->begin(), sole->end(), [&](std::uint32_t piece) { return wanted(other, piece); });
        });
        if (!others_take) continue;
        if (spreaders_ < 2 || 2 * (keepers_ + 1) > peers_.size()) return;
        stop_counting_on(slot, peer);
    }
}

void Dispatch::stop_counting_on(PeerSlot slot, Peer& peer)
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece)
        if (peer.has[piece]) given_up(slot, peer, piece);
    peer.spreads = false;
    peer.keeps = true;
    --spreaders_;
    ++keepers_;
}

void Dispatch::gained(PeerSlot slot, const Peer& peer, std::uint32_t piece)
{
    Piece& state = pieces_[piece];
    if (peer.spreads) {
        if (state.holders == 1) {
            peers_.at(state.sole).spread = now_;
            spread_time_ += (now_ - state.sole_since - spread_time_) / 16;
            set_sole(state.sole, piece, false);
        }
        if (++state.holders == 1) {
            state.sole = slot;
            set_sole(slot, piece, true);
        }
    }
    refresh(piece);
}

void Dispatch::given_up(PeerSlot slot, const Peer& peer, std::uint32_t piece)
{
    Piece& state = pieces_[piece];
    if (peer.spreads) {
        if (state.holders == 1) set_sole(slot, piece, false);
        if (--state.holders == 1) {
            const auto left = std::find_if(
                peers_.begin(), peers_.end(), [&](const auto& other) { return other.first != slot && other.second.spreads && other.second.has[piece]; });
            state.sole = left->first;
            set_sole(left->first, piece, true);
        }
    }
    refresh(piece);
}

void Dispatch::set_sole(PeerSlot slot, std::uint32_t piece, bool sole)
{
    Peer& peer = peers_.at(slot);
    if (sole) {
        if (peer.sole.empty()) peer.spread = now_;
        pieces_[piece].sole_since = now_;
        peer.sole.insert(piece);
        peer.sole_bytes += bytes_[piece];
    } else {
        peer.sole.erase(piece);
        peer.sole_bytes -= bytes_[piece];
    }
}

void Dispatch::refresh(std::uint32_t piece)
{
    const Piece& state = pieces_[piece];
    if (state.holders > 0 || state.shown > 0 || !state.mine) {
        fresh_.erase(piece);
    } else if (fresh_.insert(piece).second) {
        for (auto& [slot, peer] : peers_) peer.from = std::min(peer.from, piece);
    }
}

}  // namespace shoal::policy
