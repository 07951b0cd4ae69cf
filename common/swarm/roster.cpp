#include "common/swarm/roster.hpp"

#include <algorithm>

namespace shoal::swarm {
namespace {

constexpr std::chrono::seconds first_silence{10};
constexpr std::chrono::seconds longest_silence{60};

}  // namespace

void Roster::assign(const std::vector<Member>& members)
{
    members_ = members;
    by_peer_.clear();
    for (std::size_t i = 0; i < members_.size(); ++i) by_peer_.emplace(members_[i].peer, i);
}

const Member* Roster::find(const PeerId& peer) const
{
    const auto at = by_peer_.find(peer);
    return at == by_peer_.end() ? nullptr : &members_[at->second];
}

Verdict Roster::judge(const Shown& shown, Direction direction, TimePoint now) const
{
    if (banned(shown.peer) || left_alone(shown.peer, now)) return Verdict::refused;
    const Member* member = find(shown.peer);
    if (member == nullptr) return Verdict::unknown;
    if (shown.key) return *shown.key == member->key && !shown.key->is_zero() ? Verdict::admitted : Verdict::unknown;
    return direction == Direction::dialled ? Verdict::admitted : Verdict::unknown;
}

void Roster::was_silent(const PeerId& peer, TimePoint now)
{
    Silence& silence = silent_[peer];
    silence.length = silence.length == Duration::zero() ? Duration{first_silence} : std::min<Duration>(2 * silence.length, longest_silence);
    silence.until = now + silence.length;
}

bool Roster::left_alone(const PeerId& peer, TimePoint now) const
{
    const auto at = silent_.find(peer);
    return at != silent_.end() && now < at->second.until;
}

}  // namespace shoal::swarm
