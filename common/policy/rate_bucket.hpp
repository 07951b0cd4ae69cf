// A ceiling on bytes per second, which may change: who wants to move bytes asks when they may begin, and takes them then. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>
#include <optional>

namespace shoal::policy {

class RateBucket {
public:
    static constexpr Duration never = std::chrono::hours{24};  // from now: longer is not waited for in one go

    explicit RateBucket(std::optional<std::uint64_t> bytes_per_second) : rate_{bytes_per_second} {}  // none: no ceiling

    void set_rate(std::optional<std::uint64_t> bytes_per_second, TimePoint now);  // 0: nothing begins any more
    [[nodiscard]] std::optional<std::uint64_t> rate() const { return rate_; }
    // When the next bytes may begin to move. In any span of time what begins in it sums up to rate x span and one more at most; what was not used is not
    // saved up.
    [[nodiscard]] TimePoint next(TimePoint now) const;
    void take(std::uint64_t bytes, TimePoint now);

private:
    [[nodiscard]] double owed(TimePoint now) const;  // bytes

    std::optional<std::uint64_t> rate_;
    double owed_ = 0;  // at `at_`
    TimePoint at_{};
};

}  // namespace shoal::policy
