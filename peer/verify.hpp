// `shoal-peer verify`: finds fetched directories, reads them, tells what is wrong. Only reads. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "peer/content_check.hpp"
#include "peer/marker.hpp"
#include "peer/options.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace shoal::peer {

struct Verified {
    Site site;
    Marker marker;
    std::vector<std::string> paths;  // by file index
    std::vector<Fault> faults;
    bool broken_off = false;  // the marker is away: a repair has not come to its end
    [[nodiscard]] bool good() const { return faults.empty() && !broken_off; }
};

// Every directory that the options name. not_found if there is none, or what is there is another model or revision; integrity if a marker is damaged.
Result<std::vector<Verified>> verify_directories(const VerifyOptions& options, const std::atomic<bool>& cancelled);

// "FILE bytes A-B: expected .., found .."
std::string text_of(const Verified& verified, const Fault& fault);

// integrity, naming the first faults; success if there are none.
Result<void> judge(const std::vector<Verified>& all);

}  // namespace shoal::peer
