// How long to wait before asking again what did not answer, and how beats of many processes are kept apart. Pure.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/random.hpp"

#include <algorithm>

namespace shoal::control {

// Within a fifth around `wait`.
inline Duration jittered(Duration wait, Random& random)
{
    std::uniform_real_distribution<double> factor{0.8, 1.2};
    return std::chrono::duration_cast<Duration>(wait * factor(random));
}

// After the first failure, the second, ...: 0.5 s, doubled up to `longest`, jittered but never above it.
inline Duration retry_delay(unsigned failures, Duration longest, Random& random)
{
    const Duration doubled = std::chrono::milliseconds{500} * (1LL << std::min(failures - 1, 5U));
    return std::min(jittered(std::min(doubled, longest), random), longest);
}

}  // namespace shoal::control
