// `shoal-seeder remove`: takes a revision out of the store, and the blobs that no other one shares. Blocking; called once, from main.
//
// Names go before what they name: first the record, then manifest, location and layers, then blobs. What is to go is written down before
// (`state/removals/<hex>.json`, the manifest's bytes), so that a removal that was killed is finished by running it again.
#pragma once

#include "common/core/result.hpp"
#include "seeder/publish.hpp"
#include "seeder/stop.hpp"

#include <string>
#include <vector>

namespace shoal::seeder {

enum class Ask { trackers, nobody };

struct RemoveOptions {
    std::string store;
    std::string model;
    std::string revision;               // "sha256:…"
    std::vector<std::string> trackers;  // each must answer
    Ask ask = Ask::trackers;
    Dry dry_run = Dry::no;
    Output output = Output::text;
};

// not_found; not_allowed while it is tagged or in use; timed_out where that cannot be known; whatever keeps another revision's manifest from being read, since
// then nobody knows what is shared.
Result<void> remove(const RemoveOptions& options, const Stop& stop);

}  // namespace shoal::seeder
