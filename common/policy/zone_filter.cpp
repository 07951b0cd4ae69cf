#include "common/policy/zone_filter.hpp"

#include "common/policy/rendezvous.hpp"

#include <algorithm>

namespace shoal::policy {
namespace {

constexpr std::int64_t widest = 31;  // 2^31 peers are all there are

}  // namespace

ZoneFilter::ZoneFilter(const PeerId& self, std::size_t pieces, ZoneLimits limits) : self_{self}, limits_{limits}, pieces_(pieces) {}

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

bool ZoneFilter::heeds(PieceIndex piece, TimePoint now) const
{
    const Piece& known = pieces_[piece.value];
    const std::int64_t late = known.moved ? std::clamp<std::int64_t>((now - std::max(*known.moved, entered_)) / limits_.gives_way, 0, widest) : 0;
    if (late > 0) return known.before < std::uint64_t{1} << static_cast<unsigned>(late);
    return known.before == 0 && !known.at_home;
}

void ZoneFilter::count(const PeerId& other, int sign)
{
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
        const std::uint64_t theirs = bid(other, {piece});
        const std::uint64_t ours = bid(self_, {piece});
        if (theirs > ours || (theirs == ours && other < self_)) pieces_[piece].before += static_cast<std::uint32_t>(sign);
    }
}

}  // namespace shoal::policy
