// Whether a destination lies in a directory that another fetch has or fills, or such a one lies in it. Blocking; any thread.
#pragma once

#include "peer/site.hpp"

#include <string>
#include <vector>

namespace shoal::peer {

// Directories whose fetches' claims, also broken-off ones, lie in `shoal`: the one that it lies in (--dest), and those of models below that (--root).
std::vector<Path> claimed_by_way_of(const Path& shoal);

// Directories above the destination that are marked, and directories above, below or the same that another fetch than the site's own fills.
// Links are followed. What is marked below is found by who lists the destination.
std::vector<std::string> other_directories(const Site& site);

}  // namespace shoal::peer
