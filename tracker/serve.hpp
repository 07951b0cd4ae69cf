// `shoal-tracker serve`: until SIGTERM or SIGINT.
#pragma once

#include "tracker/options.hpp"

namespace shoal::tracker {

int serve(const ServeOptions& options);  // the exit code; failures are told

}  // namespace shoal::tracker
