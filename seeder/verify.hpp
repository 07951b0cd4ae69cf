// `shoal-seeder verify`: reads all of a published revision and compares every digest. Blocking; called once, from main.
#pragma once

#include "common/core/result.hpp"
#include "seeder/publish.hpp"
#include "seeder/stop.hpp"

#include <string>

namespace shoal::seeder {

struct VerifyOptions {
    std::string store;
    std::string model;
    std::string revision;  // "sha256:…"
    std::uint64_t origin_limit = 0;
    Output output = Output::text;
    std::chrono::milliseconds progress_interval{10'000};
    unsigned threads = 0;
};

// integrity: each file that is not what the manifest says, with key, expected and found.
Result<void> verify(const VerifyOptions& options, const Stop& stop);

}  // namespace shoal::seeder
