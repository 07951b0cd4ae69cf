#include "tracker/origin_shares.hpp"

#include <algorithm>
#include <numeric>

namespace shoal::tracker {

namespace {

constexpr std::size_t most_unconfirmed = 16;  // slices of one seeder; beyond that the larger of two stands for both

bool is_smaller(const wire::OriginSlice& a, const wire::OriginSlice& b)
{
    return a.rate < b.rate;
}

}  // namespace

std::uint64_t OriginShares::Seeder::most() const
{
    return std::max_element(slices.begin(), slices.end(), is_smaller)->rate;
}

void OriginShares::Seeder::grant(std::uint64_t rate)
{
    slices.push_back({rate, slices.back().number + 1});
    if (slices.size() <= most_unconfirmed) return;
    slices[1].rate = std::max(slices[0].rate, slices[1].rate);
    slices.erase(slices.begin());
}

void OriginShares::Seeder::confirm(std::uint64_t number)
{
    if (number > slices.back().number) return;  // nothing that this tracker ever said
    std::erase_if(slices, [number](const wire::OriginSlice& slice) { return slice.number < number; });
}

std::vector<PeerId> OriginShares::heard(const PeerId& id, const OriginClaim& claim, TimePoint now)
{
    if (limit_ == 0) return {};
    const auto [at, is_new] = seeders_.try_emplace(id);
    Seeder& seeder = at->second;
    seeder.live = true;
    seeder.busy = claim.busy;
    seeder.told = now;  // an older beat that was held is answered now
    if (is_new) {
        seeder.slices.push_back({claim.obeys, 0});
        if (now < grants_from_ && claim.obeys > 0) seeder.grant(std::min(claim.obeys, limit_));
    }
    seeder.confirm(claim.confirmed);
    return split(now);
}

std::vector<PeerId> OriginShares::left(const PeerId& seeder, TimePoint now)
{
    seeders_.erase(seeder);
    return split(now);
}

std::vector<PeerId> OriginShares::silent(const PeerId& id, TimePoint now)
{
    const auto seeder = seeders_.find(id);
    if (seeder != seeders_.end()) seeder->second.live = false;
    return split(now);
}

std::vector<PeerId> OriginShares::pass(TimePoint now)
{
    std::erase_if(seeders_, [&](const auto& entry) { return !entry.second.live && now - entry.second.told >= lasts_; });
    return split(now);
}

void OriginShares::told(const PeerId& id, TimePoint now)
{
    if (const auto seeder = seeders_.find(id); seeder != seeders_.end()) seeder->second.told = now;
}

wire::OriginSlice OriginShares::slice(const PeerId& id) const
{
    const auto seeder = seeders_.find(id);
    return seeder == seeders_.end() || seeder->second.granted() == 0 ? wire::OriginSlice{} : seeder->second.slices.back();
}

// Who does not read keeps as much as it takes to begin: a fiftieth, and all of them a twenty-fifth. The others get the rest in equal parts.
std::uint64_t OriginShares::target(const Seeder& seeder) const
{
    if (busy_ == 0) return limit_ / live_;
    const std::size_t idle = live_ - busy_;
    const std::uint64_t to_begin = idle == 0 ? 0 : std::max<std::uint64_t>(1, std::min(limit_ / 50, limit_ / 25 / idle));
    return seeder.busy ? (limit_ - std::min(limit_, idle * to_begin)) / busy_ : to_begin;
}

std::vector<PeerId> OriginShares::split(TimePoint now)
{
    if (now < grants_from_) return {};
    const auto counted = [this](bool busy) {
        return static_cast<std::size_t>(
            std::count_if(seeders_.begin(), seeders_.end(), [&](const auto& entry) { return entry.second.live && (!busy || entry.second.busy); }));
    };
    live_ = counted(false);
    busy_ = counted(true);
    std::vector<PeerId> changed;
    const auto grant = [&](const PeerId& id, Seeder& seeder, std::uint64_t rate) {
        changed.push_back(id);
        seeder.grant(rate);
    };
    for (auto& [id, seeder] : seeders_)
        if (seeder.live && target(seeder) < seeder.granted()) grant(id, seeder, target(seeder));
    std::uint64_t taken =
        std::accumulate(seeders_.begin(), seeders_.end(), std::uint64_t{0}, [](std::uint64_t sum, const auto& entry) { return sum + entry.second.most(); });
    for (auto& [id, seeder] : seeders_) {
        if (!seeder.live || target(seeder) <= seeder.granted()) continue;
        const std::uint64_t others = taken - seeder.most();
        const std::uint64_t rate = std::min(target(seeder), limit_ - std::min(limit_, others));
        if (rate <= seeder.granted()) continue;
        grant(id, seeder, rate);
        taken = others + seeder.most();
    }
    return changed;
}

}  // namespace shoal::tracker
