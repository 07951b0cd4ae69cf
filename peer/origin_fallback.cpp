#include "peer/origin_fallback.hpp"

#include "common/policy/rendezvous.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shoal::peer {
namespace {

constexpr int help_after = 5;  // the quiet's part after which others' pieces are read too

Duration up_to(Duration most, Random& random)
{
    return Duration{std::uniform_int_distribution<Duration::rep>{0, most.count()}(random)};
}

}  // namespace

Duration quiet_time(Duration stall_timeout)
{
    return std::min(longest_quiet, stall_timeout / (2 * patience_with_seeders));
}

Duration turn_of_trackers(Duration stall_timeout, std::uint64_t seed)
{
    Random random{seed};
    const Duration quiet = quiet_time(stall_timeout);
    return quiet + up_to(quiet, random);
}

OriginFallback::OriginFallback(const PeerId& self, TimePoint quiet_since, Duration stall_timeout, std::uint64_t seed)
    : self_{self}, quiet_{quiet_time(stall_timeout)}, random_{seed}, jitter_{up_to(quiet_, random_)}, moved_{quiet_since}
{}

Duration OriginFallback::patience(bool seeder_connected) const
{
    return quiet_ * (seeder_connected ? patience_with_seeders : 1) + jitter_;
}

OriginFallback::Change OriginFallback::saw(const SwarmFacts& facts, TimePoint now)
{
    const std::uint64_t received = facts.from_seeders + facts.from_peers;
    const bool moved = std::exchange(received_, received) != received;
    const bool seeder_gave = std::exchange(from_seeders_, facts.from_seeders) != facts.from_seeders;
    if (moved) moved_ = now;
    if (reading_) {
        const bool peers_give_all = moved && facts.nobodys == 0;
        if (!seeder_gave && !peers_give_all) return Change::none;
        reading_ = false;
        jitter_ = up_to(quiet_, random_);
        return Change::ended;
    }
    if (now - moved_ < patience(facts.seeder_connected)) return Change::none;
    reading_ = true;
    began_ = now;
    return Change::began;
}

const std::vector<bool>& OriginFallback::own_part(const Missing& missing)
{
    if (own_.size() != missing.pieces || peers_ != missing.peers) {
        own_ = policy::share_of(self_, missing.peers, missing.pieces);
        peers_ = missing.peers;
    }
    return own_;
}

std::vector<PieceIndex> OriginFallback::some_of(std::vector<PieceIndex> pieces, std::size_t most)
{
    const std::size_t taken = std::min(most, pieces.size());
    for (std::size_t i = 0; i < taken; ++i) std::swap(pieces[i], pieces[std::uniform_int_distribution<std::size_t>{i, pieces.size() - 1}(random_)]);
    pieces.resize(taken);
    return pieces;
}

std::vector<PieceIndex> OriginFallback::choose(const Missing& missing, std::size_t most, TimePoint now)
{
    const std::vector<bool>& own = own_part(missing);
    std::vector<PieceIndex> mine;
    std::copy_if(missing.nobodys.begin(), missing.nobodys.end(), std::back_inserter(mine), [&own](PieceIndex piece) { return own[piece.value]; });
    if (!mine.empty()) return some_of(std::move(mine), most);
    if (!missing.nobodys.empty()) return quiet(now) < quiet_ / help_after ? std::vector<PieceIndex>{} : some_of(missing.nobodys, most);
    if (std::min(quiet(now), now - began_) < quiet_ + jitter_) return {};
    return some_of(missing.held, most);
}

}  // namespace shoal::peer
