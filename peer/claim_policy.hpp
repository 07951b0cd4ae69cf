// Who may write the staged files: whether a claim that somebody else holds is alive, stale, or its owner provably dead. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <cstdint>
#include <string>

namespace shoal::peer {

inline constexpr Duration claim_renewal = std::chrono::seconds{2};       // how often an owner counts on
inline constexpr Duration claim_trust = std::chrono::seconds{5};         // how long an owner writes without having looked
inline constexpr Duration claim_stale_after = std::chrono::seconds{10};  // without counting on, by the waiter's own clock

// A process of one machine. Only within one boot and one pid namespace can another tell whether it lives.
struct ProcessIdentity {
    std::string boot;  // kernel's boot id; empty: unknown
    std::uint64_t pid_namespace = 0;
    std::int64_t pid = 0;
    std::uint64_t start = 0;  // clock ticks since boot
    bool operator==(const ProcessIdentity&) const = default;
};

enum class Liveness { alive, gone, unknown };

// What a waiter does about a claim.
enum class ClaimVerdict { wait, take_dead, take_stale };

// Watches one claim. A new owner, or a count that moves, starts its time anew.
class ClaimWatch {
public:
    // `content`: the claim's record as read, whatever it is; compared, not understood.
    ClaimVerdict judge(const std::string& owner, const std::string& content, Liveness liveness, TimePoint now);

private:
    std::string owner_;
    std::string content_;
    TimePoint since_{};
};

// `pid_exists` and `start_of_pid` (0: unknown): what the kernel says of that pid here, which counts only where `self` shares boot and namespace.
Liveness liveness_of(const ProcessIdentity& owner, const ProcessIdentity& self, bool pid_exists, std::uint64_t start_of_pid);

}  // namespace shoal::peer
