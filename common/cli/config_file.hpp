// The part of TOML that a file of flags needs: key = value, where a value is a string, a number, true, false, or an array of them. Pure.
#pragma once

#include "common/core/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

struct ConfigEntry {
    std::string key;                  // "origin-limit"; with a table in front, "publish.origin-limit"
    std::vector<std::string> values;  // as they would stand on the command line; of an array each
    std::size_t line = 0;
};

// Fails with invalid, naming the line. No key twice; no dates, inline tables or multi-line strings.
Result<std::vector<ConfigEntry>> parse_config(std::string_view text);

}  // namespace shoal::cli
