// The command line of shoal-tracker.
#pragma once

#include "tracker/switchboard.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace shoal::tracker {

struct ServeOptions {
    std::string store;  // URL
    std::string listen = ":8080";
    std::chrono::milliseconds beat = std::chrono::seconds{3};
    std::string topology;  // path of the file; empty: none
    bool allow_stock_clients = false;
    OriginTerms origin;
};

struct CommandLine {
    bool run = false;
    int exit_code = 0;  // where there is nothing to run
    ServeOptions serve;
};

// Messages about a wrong one are printed.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace shoal::tracker
