#include "common/policy/uplink.hpp"

#include <algorithm>

namespace shoal::policy {

void Uplink::turn(TimePoint now)
{
    const std::int64_t number = now.time_since_epoch() / slot;
    const auto passed = std::min<std::int64_t>(number - at_, static_cast<std::int64_t>(sent_.size()));
    for (std::int64_t i = 1; i <= passed; ++i) sent_[static_cast<std::size_t>(at_ + i) % sent_.size()] = 0;
    if (passed == static_cast<std::int64_t>(sent_.size())) sent_.fill(0);
    at_ = std::max(at_, number);
}

void Uplink::sent(std::uint64_t bytes, TimePoint now)
{
    turn(now);
    sent_[static_cast<std::size_t>(at_) % sent_.size()] += bytes;
}

std::uint64_t Uplink::window(std::uint64_t piece_bytes, TimePoint now)
{
    turn(now);
    const std::uint64_t best = *std::max_element(sent_.begin(), sent_.end());
    const auto worth = static_cast<std::uint64_t>(best * (limits_.worth / std::chrono::milliseconds{1}) / (slot / std::chrono::milliseconds{1}));
    return std::max(2 * piece_bytes, std::clamp(worth, limits_.least, limits_.most));
}

}  // namespace shoal::policy
