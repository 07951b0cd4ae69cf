// `shoal-seeder publish`: an immutable revision out of a directory, a file or the keys below a prefix, into a store. Blocking; called once, from main.
#pragma once

#include "common/core/result.hpp"
#include "seeder/publish_plan.hpp"
#include "seeder/source_tree.hpp"
#include "seeder/stop.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shoal::seeder {

enum class Dry { no, yes };  // yes: say what would be written, write nothing
enum class Suspicious { warn, refuse };
enum class Output { text, json };

struct PublishOptions {
    std::string source;
    std::string store;  // URL
    std::string model;
    std::vector<std::string> tags;
    std::string data_version;
    std::string transform_version;
    std::map<std::string, std::string> annotations;
    Selection selection;
    std::uint64_t piece_size = 0;  // 0: by the revision's bytes
    Placement placement = Placement::copy;
    Links links = Links::inside;
    Suspicious suspicious = Suspicious::warn;
    std::uint64_t origin_limit = 0;  // bytes/s read from the source, 0: none
    Dry dry_run = Dry::no;
    Output output = Output::text;
    std::chrono::milliseconds progress_interval{10'000};
    unsigned threads = 0;  // 0: one per core
};

// stdout: the revision (with Output::json: event lines); the rest to stderr. Killed at any point it leaves nothing visible, and a second run goes on where it was.
Result<void> publish(const PublishOptions& options, const Stop& stop);

}  // namespace shoal::seeder
