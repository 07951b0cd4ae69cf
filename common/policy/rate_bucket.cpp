#include "common/policy/rate_bucket.hpp"

#include <algorithm>

namespace shoal::policy {

double RateBucket::owed(TimePoint now) const
{
    if (!rate_) return 0;
    const double passed = std::chrono::duration<double>(std::max(now, at_) - at_).count();
    return std::max(0.0, owed_ - passed * static_cast<double>(*rate_));
}

void RateBucket::set_rate(std::optional<std::uint64_t> bytes_per_second, TimePoint now)
{
    owed_ = owed(now);
    at_ = now;
    rate_ = bytes_per_second;
}

TimePoint RateBucket::next(TimePoint now) const
{
    if (!rate_) return now;
    if (*rate_ == 0) return now + never;
    const std::chrono::duration<double> wait{owed(now) / static_cast<double>(*rate_)};
    return now + std::min(never, std::chrono::ceil<Duration>(std::min(wait, std::chrono::duration<double>{never})));
}

void RateBucket::take(std::uint64_t bytes, TimePoint now)
{
    owed_ = owed(now) + (rate_ ? static_cast<double>(bytes) : 0);
    at_ = now;
}

}  // namespace shoal::policy
