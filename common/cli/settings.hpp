// Fills options that the command line leaves open from SHOAL_<FLAG> and then from the --config file. Internal to common/cli.
#pragma once

#include "common/core/result.hpp"

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace shoal::cli {

// `app` has just read its command line, and nothing is checked yet. Fails with invalid (or what reading the file gave), naming variable or file.
// A value from below does not come in where an option that excludes it has been given above.
Result<void> fill_from_surroundings(CLI::App& app);

// "origin-limit" -> "SHOAL_ORIGIN_LIMIT"
std::string variable_of(const std::string& flag);

}  // namespace shoal::cli
