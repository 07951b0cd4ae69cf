#include "common/sim/origin.hpp"

#include <algorithm>

namespace shoal::sim {

namespace {

policy::DispatchLimits limits_of(const Scenario& scenario)
{
    policy::DispatchLimits limits = scenario.dispatch;
    limits.extra_bytes = policy::extra_bytes_of(std::uint64_t{scenario.pieces} * scenario.piece_bytes);
    return limits;
}

}  // namespace

Origin::Origin(const Scenario& scenario)
    : piece_bytes_{scenario.piece_bytes},
      dispatch_{std::vector<std::uint32_t>(scenario.pieces, scenario.piece_bytes), limits_of(scenario)},
      uplink_{scenario.uplink},
      store_{scenario.origin_limit == 0 ? std::nullopt : std::optional{scenario.origin_limit}}
{
    dispatch_.allow_copies(scenario.origin_copies);
}

void Origin::show(TimePoint now, Random& random)
{
    const std::uint64_t window = uplink_.window(piece_bytes_, now);
    const auto shows = dispatch_.next(window, now, random);
    for (const Show& show : shows) {
        const TimePoint begins = store_.next(now);
        store_.take(piece_bytes_, now);
        reads_.count(begins);
        queue_.push_back({show, begins});
    }
    if (!shows.empty() && dispatch_.in_flight() > window) ++overruns_;
}

std::optional<Origin::Show> Origin::send(TimePoint now, const std::function<Answer(const Show&)>& takes)
{
    if (sending_) return std::nullopt;
    for (auto at = queue_.begin(); at != queue_.end();) {
        const Answer answer = at->at > now ? Answer::later : takes(at->show);
        if (answer == Answer::later) {
            ++at;
            continue;
        }
        const Show show = at->show;
        at = queue_.erase(at);
        if (answer == Answer::never) continue;
        sending_ = true;
        return show;
    }
    return std::nullopt;
}

std::optional<TimePoint> Origin::reads_until(TimePoint now) const
{
    const auto next = std::find_if(queue_.begin(), queue_.end(), [now](const Ready& each) { return each.at > now; });
    return next == queue_.end() ? std::nullopt : std::optional{next->at};
}

void Origin::sent(policy::PeerSlot peer, TimePoint now)
{
    sending_ = false;
    bytes_ += piece_bytes_;
    uplink_.sent(piece_bytes_, now);
    dispatch_.sent(peer, now);
    sends_.count(now);
}

void Origin::BySecond::count(TimePoint now)
{
    last.push_back(now);
    while (now - last.front() >= std::chrono::seconds{1}) last.pop_front();
    most = std::max(most, last.size());
}

}  // namespace shoal::sim
