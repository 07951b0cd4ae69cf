// The command line's common habits (docs/operations.md): flag, then SHOAL_<FLAG>, then --config FILE, then default; an empty variable is unset.
#pragma once

#include "common/core/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace shoal::cli {

// --help with examples, --version, --config, --log-level, --log-format on `app`.
void add_common(CLI::App& app, const std::string& program);

// Options that take sizes, rates and durations as people write them; a wrong value is a usage error naming the flag.
void add_size(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help);
void add_rate(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help);
void add_duration(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value, const std::string& help);

// Parses, applies the environment and the log flags. Returns nothing to run the chosen command, else the exit code (help, version, usage: message printed).
struct Parsed {
    bool run = false;
    int exit_code = 0;
};
Parsed parse(CLI::App& app, const std::string& program, int argc, char** argv);

// Last line on stderr "<program>: <text>", the same (at most 4096 bytes) to /dev/termination-log where it can be written. Returns the exit code.
int report(const std::string& program, const Error& error);

}  // namespace shoal::cli
