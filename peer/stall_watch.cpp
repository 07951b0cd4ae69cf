#include "peer/stall_watch.hpp"

namespace shoal::peer {

void StallWatch::saw(std::uint64_t verified, std::uint64_t received, TimePoint now)
{
    if (verified > verified_) {
        verified_ = verified;
        received_at_verified_ = received;
        since_ = now;
    }
    if (received > received_ && received - received_at_verified_ <= unverified_credit) since_ = now;
    received_ = received;
}

}  // namespace shoal::peer
