#include "common/swarm/showing.hpp"

#include "common/policy/rendezvous.hpp"
#include "common/swarm/neighbour.hpp"

#include <algorithm>
#include <utility>

namespace shoal::swarm {
namespace {

constexpr Duration longest_wait = std::chrono::seconds{2};

std::vector<std::uint32_t> piece_bytes(const model::Layout& layout)
{
    std::vector<std::uint32_t> bytes;
    bytes.reserve(layout.pieces());
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) bytes.push_back(layout.place({piece}).length);
    return bytes;
}

policy::DispatchLimits limits_of(const model::Layout& layout)
{
    policy::DispatchLimits limits;
    limits.extra_bytes = policy::extra_bytes_of(layout.bytes());
    return limits;
}

}  // namespace

Showing::Showing(const model::Layout& layout, std::shared_ptr<SharedUplink> shared, std::function<void(PieceIndex)> expect)
    : largest_{layout.piece_size()},
      pieces_{layout.pieces()},
      shared_{std::move(shared)},
      expect_{std::move(expect)},
      dispatch_{piece_bytes(layout), limits_of(layout)}
{}

std::optional<policy::PeerSlot> Showing::slot_of(const Neighbour& neighbour) const
{
    const auto known = slots_.find(&neighbour);
    return known == slots_.end() ? std::nullopt : std::optional{known->second};
}

void Showing::wait_for(std::set<PeerId> holders)
{
    awaited_ = std::move(holders);
    waits_until_ = Clock::now() + longest_wait;
}

void Showing::joined(Neighbour& neighbour, policy::Joining joining, const std::vector<bool>& has, const std::vector<bool>& want)
{
    awaited_.erase(neighbour.id());
    const policy::PeerSlot slot = next_slot_++;
    slots_.emplace(&neighbour, slot);
    neighbours_.emplace(slot, &neighbour);
    const TimePoint now = Clock::now();
    dispatch_.joined(slot, joining, now);
    dispatch_.wants(slot, want);
    for (std::uint32_t piece = 0; piece < has.size(); ++piece)
        if (has[piece]) dispatch_.has(slot, {piece}, now);
    pump();
}

void Showing::left(Neighbour& neighbour)
{
    const auto slot = slot_of(neighbour);
    if (!slot) return;
    dispatch_.left(*slot);
    slots_.erase(&neighbour);
    neighbours_.erase(*slot);
    pump();
}

void Showing::wants(const Neighbour& neighbour, std::vector<bool> want)
{
    if (const auto slot = slot_of(neighbour)) dispatch_.wants(*slot, std::move(want));
}

void Showing::has(const Neighbour& neighbour, PieceIndex piece)
{
    const auto slot = slot_of(neighbour);
    if (!slot) return;
    dispatch_.has(*slot, piece, Clock::now());
    pump();
}

void Showing::lost(const Neighbour& neighbour, PieceIndex piece)
{
    if (const auto slot = slot_of(neighbour)) dispatch_.lost(*slot, piece);
}

void Showing::hungry(const Neighbour& neighbour)
{
    const auto slot = slot_of(neighbour);
    if (!slot) return;
    dispatch_.hungry(*slot, Clock::now());
    pump();
}

void Showing::show_again(Neighbour& neighbour)
{
    if (const auto slot = slot_of(neighbour))
        for (const std::uint32_t piece : dispatch_.shown(*slot)) neighbour.show({piece});
}

void Showing::share_with(const PeerId& own, const std::vector<PeerId>& seeders, std::uint32_t copies)
{
    dispatch_.allow_copies(copies);
    if (std::exchange(seeders_, seeders) == seeders) return;
    dispatch_.assign(policy::share_of(own, seeders, pieces_));
    pump();
}

void Showing::sent(const Neighbour& neighbour, std::uint32_t bytes)
{
    const TimePoint now = Clock::now();
    shared_->uplink.sent(bytes, now);
    if (const auto slot = slot_of(neighbour)) dispatch_.sent(*slot, now);
}

void Showing::second()
{
    pump();
}

void Showing::pump()
{
    const TimePoint now = Clock::now();
    if (!awaited_.empty() && now < waits_until_) return;
    const std::uint64_t window = shared_->uplink.window(largest_, now) / std::max<std::size_t>(1, shared_->torrents);
    for (const auto& [slot, piece] : dispatch_.next(window, now, shared_->random)) {
        if (expect_) expect_(piece);
        neighbours_.at(slot)->show(piece);
    }
}

}  // namespace shoal::swarm
