// The right to write into a work directory, held by one process at a time without locks (flock means nothing on NFS).
//
// The work directory holds one file `owner.<hex>`, whose name is the claim and whose content is a record that the owner counts on. A directory is created
// with its owner file in it, by a rename that fails if one is there; it changes hands by renaming the owner file, which one process alone can do.
//
// What no file can fence: an owner that stood still between guard() and its write, for longer than claim_stale_after, writes once more when it wakes, a run
// at most. Those bytes belong where they go, and are wrong only if a neighbour lied in that very run; so what an unsure claim staged is hashed again at the end.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "peer/claim_policy.hpp"
#include "peer/site.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace shoal::peer {

using OwnerId = Opaque<struct OwnerTag, 8>;

// One owner's claim. guard() from any thread; the rest from one at a time.
class Claim {
public:
    using ReadClock = std::function<TimePoint()>;

    Claim(Path work, OwnerId id, ProcessIdentity self, ReadClock clock, bool unsure);
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    // Counts on. Fails with changed when another process has taken the claim over, else as the filesystem does.
    Result<void> renew();
    // Before each write: renews if the last time is more than claim_trust ago.
    Result<void> guard();
    // Gives the claim up and removes the work directory with all that is in it.
    Result<void> remove();
    // Gives the claim up and leaves what is staged: the next comer takes it at once.
    void release();
    // It was taken from an owner that may still be alive: what is staged is to be checked again before it counts.
    [[nodiscard]] bool unsure() const { return unsure_; }

private:
    [[nodiscard]] Path owner_file() const;
    Path work_;
    OwnerId id_;
    ProcessIdentity self_;
    ReadClock clock_;
    bool unsure_;
    std::atomic<std::int64_t> renewed_{0};
    std::mutex renewing_;
    std::uint64_t count_ = 0;
};

// What an attempt came to: a claim, or whom it waits for.
struct ClaimAttempt {
    std::unique_ptr<Claim> claim;
    std::string waiting_for;  // "process 123 (of this machine)"
};

// Tries again and again until it has the claim; each attempt looks once. Not thread-safe.
class Claimer {
public:
    explicit Claimer(Site site, Claim::ReadClock clock, ProcessIdentity self);
    Result<ClaimAttempt> attempt();

private:
    Result<ClaimAttempt> create();
    Result<ClaimAttempt> judge(const std::string& owner);
    Result<ClaimAttempt> adopt_ownerless();
    Result<ClaimAttempt> taken(bool unsure);
    Site site_;
    Claim::ReadClock clock_;
    ProcessIdentity self_;
    OwnerId id_;
    ClaimWatch watch_;
    bool unsure_ = false;
};

// CLOCK_BOOTTIME: goes on while the machine sleeps.
TimePoint boot_time();

// Removes what a fetch leaves when its work directory is gone: base, .shoal, where empty.
void remove_empty(const Site& site);

}  // namespace shoal::peer
