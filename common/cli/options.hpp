// The command line's common habits (docs/operations.md): flag, then SHOAL_<FLAG>, then --config FILE, then default; an empty variable is unset.
#pragma once

#include "common/core/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace shoal::cli {

// --help, --version, --config, --log-level, --log-format on `app`, whose address must stay; commands may be added before or after. Examples are the program's: app.footer().
void add_common(CLI::App& app, const std::string& program);

// Options that take sizes, rates and durations (more than 0) as people write them; a wrong value is a usage error naming the flag.
CLI::Option* add_size(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help);
CLI::Option* add_rate(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value, const std::string& help);
// A whole number from `least` to `most`.
CLI::Option* add_count(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least, std::uint64_t most, const std::string& help);
// May be repeated, and each time name several, comma-separated; given values replace the default.
CLI::Option* add_list(CLI::App& app, const std::string& flag, std::vector<std::string>& values, const std::string& help);

// Every value of the option has to pass; one that does not is a usage error naming the flag, with what the check says.
CLI::Option* add_check(CLI::Option* option, std::function<Result<void>(const std::string&)> check);

// Parses, applies the environment and the log flags. Returns nothing to run the chosen command, else the exit code (help, version, usage: message printed).
struct Parsed {
    bool run = false;
    int exit_code = 0;
};
Parsed parse(CLI::App& app, const std::string& program, int argc, char** argv);

// At most 4096 bytes of `text` into a file that exists; a failure is not told.
void write_termination_message(const char* path, std::string_view text);

// The error with what to do: its own hint, or what helps with most errors of its kind.
Error with_hint(Error error);

// Last line on stderr "<program>: <text>", the same (at most 4096 bytes) to /dev/termination-log where it can be written. Returns the exit code.
int report(const std::string& program, const Error& error);

}  // namespace shoal::cli
