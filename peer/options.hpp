// The command line of shoal-peer, checked. Start-up only.
#pragma once

#include "common/cli/options.hpp"
#include "peer/fetch.hpp"
#include "peer/report.hpp"
#include "peer/transfer.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace shoal::peer {

inline constexpr const char* program = "shoal-peer";

struct FetchOptions {
    std::vector<FetchRequest> requests;  // one after the other
    Presence presence;
    Output output = Output::text;
    std::chrono::milliseconds progress_interval{};
    std::string http;  // empty: none
};

struct VerifyOptions {
    Path root, dest;                     // one of them
    std::string model;                   // empty: every one
    std::optional<RevisionId> revision;  // none: whichever is there
    bool repair = false;
    FetchOptions fetch;  // how a repair fetches; its requests are made from what is found
    FetchRequest request;
};

struct Options {
    std::optional<FetchOptions> fetch;
    std::optional<VerifyOptions> verify;
};

// Nothing to run: help, version, or a usage error that has been reported; then the exit code.
cli::Parsed parse_options(int argc, char** argv, Options& options);

}  // namespace shoal::peer
