// How far a transfer is, for people: a bar on a terminal, a plain line every interval elsewhere (never \r; honours NO_COLOR). Not thread-safe.
#pragma once

#include "common/core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace shoal::cli {

struct Progress {
    std::string what;  // "fetching llama"
    std::uint64_t bytes = 0;
    std::uint64_t total = 0;
    std::uint64_t rate = 0;  // bytes/s
    std::string detail;      // "12 % from origin, 88 % from peers"; may be empty
};

class ProgressLine {
public:
    explicit ProgressLine(std::chrono::milliseconds interval);
    void show(const Progress& progress, TimePoint now);               // prints when it is time to
    void finish();                                                    // leaves the terminal on a fresh line
    [[nodiscard]] static std::string line(const Progress& progress);  // "fetching llama: 1.2 GiB of 4.0 GiB (30 %), 230 MB/s, 12s left, …"

private:
    std::chrono::milliseconds interval_;
    bool terminal_;
    bool open_ = false;
    TimePoint last_{};
};

}  // namespace shoal::cli
