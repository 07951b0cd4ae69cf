#include "common/policy/rate_bucket.hpp"

#include <algorithm>

namespace shoal::policy {

TimePoint RateBucket::reserve(std::uint64_t bytes, TimePoint now)
{
    if (bytes_per_second_ == 0) return now;
    const TimePoint begin = std::max(free_at_, now);
    const std::chrono::duration<double> takes{static_cast<double>(bytes) / static_cast<double>(bytes_per_second_)};
    free_at_ = begin + std::chrono::ceil<Duration>(std::min(takes, std::chrono::duration<double>{std::chrono::hours{24}}));
    return begin;
}

}  // namespace shoal::policy
