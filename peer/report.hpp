// What a fetch tells: events or lines on stdout, progress on stderr. Not thread-safe.
#pragma once

#include "common/cli/progress.hpp"
#include "common/core/clock.hpp"
#include "common/core/error.hpp"
#include "common/core/ids.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace shoal::peer {

enum class Output { text, json };

// How far it is; bytes are verified ones.
struct FetchProgress {
    std::uint64_t bytes = 0, total = 0, rate = 0;
    std::uint64_t from_peers = 0, from_origin = 0, reused = 0;
};

class Report {
public:
    Report(Output output, std::chrono::milliseconds interval) : output_{output}, interval_{interval}, line_{interval} {}

    void resolved(const std::string& model, const RevisionId& revision, const std::string& tag);
    void started(const std::string& path, std::uint64_t files, const FetchProgress& progress);
    void progress(const FetchProgress& progress, TimePoint now);  // tells it when it is time to; eta_s is null while nothing comes
    void verified(const FetchProgress& progress);
    void ready(const std::string& path, const FetchProgress& progress, Duration taken);
    void failed(int code, const Error& error);

private:
    void tell_progress(const FetchProgress& progress);
    Output output_;
    std::chrono::milliseconds interval_;
    cli::ProgressLine line_;
    std::string model_, revision_;
    TimePoint last_{};
    std::uint64_t told_ = 0;  // bytes never go back, also when a fetch has to begin again
};

}  // namespace shoal::peer
