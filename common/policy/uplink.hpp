// How many bytes may be on their way from a seeder to its peers at once: what its uplink sends in a third of a second, or so. Fewer leave it idle, more only
// wait in queues and are decided too early. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <array>
#include <cstdint>

namespace shoal::policy {

struct UplinkLimits {
    Duration worth = std::chrono::milliseconds{350};  // of sending; measured at 12 MB/s: 16 pieces of 256 KiB, 32 were worse
    std::uint64_t least = 1U << 20U;                  // bytes
    std::uint64_t most = 48U << 20U;                  // half of a seeder's cache
};

class Uplink {
public:
    explicit Uplink(UplinkLimits limits = {}) : limits_{limits} {}

    void sent(std::uint64_t bytes, TimePoint now);
    // Bytes; by the best of the last two seconds. At least two pieces.
    [[nodiscard]] std::uint64_t window(std::uint64_t piece_bytes, TimePoint now);

private:
    static constexpr Duration slot = std::chrono::milliseconds{250};
    void turn(TimePoint now);

    UplinkLimits limits_;
    std::array<std::uint64_t, 9> sent_{};  // by slot, the one under way included
    std::int64_t at_ = 0;                  // its number
};

}  // namespace shoal::policy
