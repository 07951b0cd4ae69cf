// Asks every address of every tracker whether a revision is in use. Blocking: runs a loop of its own; from main.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "seeder/stop.hpp"

#include <string>
#include <vector>

namespace shoal::seeder {

// Success only if each of them has answered, with a complete picture, that it is not; else as judge_answer(), or timed_out naming who did not answer.
Result<void> ask_trackers(const std::vector<std::string>& trackers, const RevisionId& revision, const Stop& stop);

}  // namespace shoal::seeder
