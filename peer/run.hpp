// The commands of shoal-peer: they run a loop until all is done or a signal comes, and return the exit code. Main thread.
#pragma once

#include "peer/options.hpp"

namespace shoal::peer {

int run_fetch(FetchOptions options);
int run_verify(const VerifyOptions& options);

}  // namespace shoal::peer
