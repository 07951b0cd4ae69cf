#include "common/sim/origin.hpp"

#include <algorithm>

namespace shoal::sim {

Origin::Origin(const Scenario& scenario)
    : piece_bytes_{scenario.piece_bytes},
      dispatch_{std::vector<std::uint32_t>(scenario.pieces, scenario.piece_bytes), scenario.dispatch},
      uplink_{scenario.uplink}
{}

void Origin::show(TimePoint now, Random& random)
{
    const std::uint64_t window = uplink_.window(piece_bytes_, now);
    const auto shows = dispatch_.next(window, now, random);
    queue_.insert(queue_.end(), shows.begin(), shows.end());
    if (!shows.empty() && dispatch_.in_flight() > window) ++overruns_;
}

std::optional<Origin::Show> Origin::send(const std::function<Answer(const Show&)>& takes)
{
    if (sending_) return std::nullopt;
    for (auto at = queue_.begin(); at != queue_.end();) {
        const Answer answer = takes(*at);
        if (answer == Answer::later) {
            ++at;
            continue;
        }
        const Show show = *at;
        at = queue_.erase(at);
        if (answer == Answer::never) continue;
        sending_ = true;
        return show;
    }
    return std::nullopt;
}

void Origin::sent(policy::PeerSlot peer, TimePoint now)
{
    sending_ = false;
    bytes_ += piece_bytes_;
    uplink_.sent(piece_bytes_, now);
    dispatch_.sent(peer, now);
    count(now);
}

void Origin::count(TimePoint now)
{
    last_second_.push_back(now);
    while (now - last_second_.front() >= std::chrono::seconds{1}) last_second_.pop_front();
    busiest_ = std::max(busiest_, static_cast<double>(last_second_.size()) * piece_bytes_);
}

}  // namespace shoal::sim
