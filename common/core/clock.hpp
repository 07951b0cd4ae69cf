// The clock decisions are made by. Decisions get a TimePoint; only loops and adapters read the clock.
#pragma once

#include <chrono>

namespace shoal {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

}  // namespace shoal
