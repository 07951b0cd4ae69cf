// A ceiling on bytes per second: who wants to move bytes reserves them and is told when to begin. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>

namespace shoal::policy {

class RateBucket {
public:
    explicit RateBucket(std::uint64_t bytes_per_second) : bytes_per_second_{bytes_per_second} {}  // 0: no ceiling

    // When `bytes` may begin to move. In any span of time the reservations that begin in it sum up to rate x span and one more at most;
    // what was not used is not saved up.
    TimePoint reserve(std::uint64_t bytes, TimePoint now);

private:
    std::uint64_t bytes_per_second_;
    TimePoint free_at_{};
};

}  // namespace shoal::policy
