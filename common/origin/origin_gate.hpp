// How threads that read the store wait: for the ceiling on its bytes, and between two tries. No wait outlasts close(). Any thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/policy/rate_bucket.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace shoal::origin {

class OriginGate {
public:
    explicit OriginGate(std::uint64_t bytes_per_second)  // 0: no ceiling
        : bucket_{bytes_per_second == 0 ? std::nullopt : std::optional{bytes_per_second}}
    {}

    // From now on, also for those who wait already. None: no ceiling; 0: nobody is admitted.
    void set_ceiling(std::optional<std::uint64_t> bytes_per_second);
    // Blocks until `bytes` may be read, one after the other; false once closed.
    [[nodiscard]] bool admit(std::uint64_t bytes);
    // Counts bytes that were read without asking first; later readers wait for them.
    void charge(std::uint64_t bytes);
    // Whether so many at once are no more than a twentieth of what a second allows.
    [[nodiscard]] bool lets_at_once(std::uint64_t bytes);
    // Whether anybody has asked since the last time, or waits.
    [[nodiscard]] bool was_asked();
    // Blocks for `pause`; false once closed.
    [[nodiscard]] bool rest(Duration pause);
    // Ends all waits, for good.
    void close();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    policy::RateBucket bucket_;
    std::uint64_t next_ticket_ = 0;
    std::uint64_t served_ = 0;  // the ticket whose turn it is
    std::uint64_t seen_ = 0;    // tickets, by was_asked()
    bool closed_ = false;
};

}  // namespace shoal::origin
