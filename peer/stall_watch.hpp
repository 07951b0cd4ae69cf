// Whether a transfer still gets on. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>

namespace shoal::peer {

// Verified bytes are progress. Received ones are too, since a piece may take long, but not for ever: wrong bytes would count.
class StallWatch {
public:
    explicit StallWatch(TimePoint start) : since_{start} {}
    void saw(std::uint64_t verified, std::uint64_t received, TimePoint now);
    [[nodiscard]] Duration idle(TimePoint now) const { return now - since_; }

private:
    static constexpr std::uint64_t unverified_credit = 256U << 20U;  // 16 of the largest pieces
    std::uint64_t verified_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t received_at_verified_ = 0;
    TimePoint since_;
};

}  // namespace shoal::peer
