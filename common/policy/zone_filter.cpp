#include "common/policy/zone_filter.hpp"

#include "common/policy/rendezvous.hpp"

#include <algorithm>
#include <utility>

namespace shoal::policy {
namespace {

constexpr std::int64_t widest = 31;  // 2^31 peers are all there are

}  // namespace

ZoneFilter::ZoneFilter(const PeerId& self, std::string zone, std::size_t pieces, ZoneLimits limits)
    : self_{self}, zone_{std::move(zone)}, limits_{limits}, pieces_(pieces)
{}

void ZoneFilter::met(const std::string& zone)
{
    const auto known = std::find_if(abroad_.begin(), abroad_.end(), [&](const Abroad& each) { return each.zone == zone; });
    if (known != abroad_.end()) {
        ++known->connections;
        return;
    }
    abroad_.push_back({zone, 1});
    order();
}

void ZoneFilter::parted(const std::string& zone)
{
    const auto known = std::find_if(abroad_.begin(), abroad_.end(), [&](const Abroad& each) { return each.zone == zone; });
    if (known == abroad_.end() || --known->connections > 0) return;
    abroad_.erase(known);
    order();
}

void ZoneFilter::shown_by(std::vector<Seeder> seeders)
{
    seeders_ = std::move(seeders);
    order();
}

void ZoneFilter::offered_abroad(PieceIndex piece, TimePoint now)
{
    Piece& known = pieces_[piece.value];
    if (!known.moved) known.moved = now;
}

void ZoneFilter::held_at_home(PieceIndex piece, TimePoint now)
{
    if (!pieces_[piece.value].at_home) entered_ = now;
    pieces_[piece.value].at_home = true;
    pieces_[piece.value].moved = now;
}

bool ZoneFilter::heeds(PieceIndex piece, const std::string& zone, TimePoint now) const
{
    const Piece& known = pieces_[piece.value];
    const std::int64_t late = known.moved ? std::clamp<std::int64_t>((now - std::max(*known.moved, entered_)) / limits_.gives_way, 0, widest) : 0;
    if (late > 0) return known.before < std::uint64_t{1} << static_cast<unsigned>(late);
    if (known.before > 0 || known.at_home) return false;
    if (known.shown_at_home) return known.moved && now - *known.moved >= limits_.elsewhere;  // it was shown elsewhere before anybody was here
    return known.from == anywhere || abroad_[known.from].zone == zone || (known.moved && now - *known.moved >= limits_.elsewhere);
}

void ZoneFilter::count(const PeerId& other, int sign)
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
        const std::uint64_t theirs = bid(other, {piece});
        const std::uint64_t ours = bid(self_, {piece});
        if (theirs > ours || (theirs == ours && other < self_)) pieces_[piece].before += static_cast<std::uint32_t>(sign);
    }
}

void ZoneFilter::order()
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
        const std::string* const home = home_of({piece});
        pieces_[piece].shown_at_home = home != nullptr && *home == zone_;
        pieces_[piece].from = home == nullptr ? anywhere : zone_before({piece}, *home);
    }
}

const std::string* ZoneFilter::home_of(PieceIndex piece) const
{
    const auto bids_less = [&](const Seeder& a, const Seeder& b) { return bid(a.peer, piece) < bid(b.peer, piece); };
    const auto seeder = std::max_element(seeders_.begin(), seeders_.end(), bids_less);
    return seeder == seeders_.end() || seeder->zone.empty() ? nullptr : &seeder->zone;
}

// Of the zones that it is connected to; the piece's home comes before all.
std::uint32_t ZoneFilter::zone_before(PieceIndex piece, const std::string& home) const
{
    const std::uint64_t own = bid(zone_, piece);
    std::uint32_t before = anywhere;
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < abroad_.size(); ++i) {
        const std::uint64_t theirs = abroad_[i].zone == home ? 0 : bid(abroad_[i].zone, piece);
        if (theirs >= own || (before != anywhere && theirs < highest)) continue;
        before = i;
        highest = theirs;
    }
    return before;
}

}  // namespace shoal::policy
