// Looks at a destination and tells the facts that decide() needs. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "peer/destination.hpp"
#include "peer/site.hpp"

namespace shoal::peer {

// The marker and its files' states only: what a second run needs.
Result<DestinationFacts> look_at_marker(const Site& site);

// All of it: leftovers of broken-off runs, files, other models' directories.
Result<DestinationFacts> look_at(const Site& site);

// not_allowed, naming the directory, if nothing can be created there.
Result<void> check_writable(const Site& site);

}  // namespace shoal::peer
