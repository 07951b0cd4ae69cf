#include "common/swarm/availability.hpp"

#include <utility>

namespace shoal::swarm {

Availability::Availability(std::vector<bool> have, std::vector<bool> want) : have_{std::move(have)}, want_{std::move(want)}, holders_(have_.size())
{
    for (std::uint32_t piece = 0; piece < have_.size(); ++piece) {
        count({piece}, 1);
        if (want_[piece] && !have_[piece]) ++missing_;
    }
}

void Availability::count(PieceIndex piece, int sign)
{
    if (holders_[piece.value] > 0) return;
    auto& number = have_[piece.value] ? only_ours_ : nobodys_;
    if (have_[piece.value] || want_[piece.value]) number += static_cast<std::uint32_t>(sign);
}

void Availability::gained(PieceIndex piece)
{
    if (have_[piece.value]) return;
    count(piece, -1);
    have_[piece.value] = true;
    count(piece, 1);
    if (want_[piece.value]) --missing_;
}

void Availability::added(PieceIndex piece)
{
    count(piece, -1);
    ++holders_[piece.value];
}

void Availability::removed(PieceIndex piece)
{
    --holders_[piece.value];
    count(piece, 1);
}

}  // namespace shoal::swarm
