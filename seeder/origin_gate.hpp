// How threads that read the store wait: for the ceiling on its bytes, and between two tries. No wait outlasts close(). Any thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/policy/rate_bucket.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace shoal::seeder {

class OriginGate {
public:
    explicit OriginGate(std::uint64_t bytes_per_second) : bucket_{bytes_per_second} {}  // 0: no ceiling

    // Blocks until `bytes` may be read; false once closed.
    [[nodiscard]] bool admit(std::uint64_t bytes);
    // Counts bytes that were read without asking first; later readers wait for them.
    void charge(std::uint64_t bytes);
    // Blocks for `pause`; false once closed.
    [[nodiscard]] bool rest(Duration pause);
    // Ends all waits, for good.
    void close();

private:
    [[nodiscard]] bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint time);

    std::mutex mutex_;
    std::condition_variable closing_;
    policy::RateBucket bucket_;
    bool closed_ = false;
};

}  // namespace shoal::seeder
