// What tells this process from all others of this machine, and whether another is still there. Any thread.
#pragma once

#include "peer/claim_policy.hpp"

namespace shoal::peer {

ProcessIdentity own_identity();
Liveness look_for(const ProcessIdentity& owner, const ProcessIdentity& self);

}  // namespace shoal::peer
