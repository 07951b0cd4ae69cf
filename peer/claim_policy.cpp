#include "peer/claim_policy.hpp"

namespace shoal::peer {

ClaimVerdict ClaimWatch::judge(const std::string& owner, const std::string& content, Liveness liveness, TimePoint now)
{
    if (liveness == Liveness::gone) return ClaimVerdict::take_dead;
    if (owner != owner_ || content != content_) {
        owner_ = owner;
        content_ = content;
        since_ = now;
    }
    return now - since_ >= claim_stale_after ? ClaimVerdict::take_stale : ClaimVerdict::wait;
}

Liveness liveness_of(const ProcessIdentity& owner, const ProcessIdentity& self, bool pid_exists, std::uint64_t start_of_pid)
{
    if (owner.boot.empty() || owner.boot != self.boot || owner.pid_namespace == 0 || owner.pid_namespace != self.pid_namespace) return Liveness::unknown;
    if (!pid_exists || (start_of_pid != 0 && owner.start != 0 && start_of_pid != owner.start)) return Liveness::gone;
    return Liveness::alive;
}

}  // namespace shoal::peer
