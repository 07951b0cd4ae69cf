// What a publish has to write, given what the store holds. Pure.
#pragma once

#include "common/core/ids.hpp"
#include "common/model/layout.hpp"
#include "common/objectstore/catalog.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::seeder {

enum class Placement { copy, in_place };

// How a small object of the store compares with what it should be.
enum class Found { missing, same, other };

struct StoreFacts {
    std::vector<std::optional<std::uint64_t>> blobs;  // sizes, by swarm file; none: not there
    Found manifest = Found::missing;
    Found layers = Found::missing;
    Found record = Found::missing;
    std::optional<objectstore::Location> location;  // as recorded, if it can be read
    std::vector<Found> tags;                        // by the tags asked for; other: it names another revision
};

struct PublishPlan {
    std::vector<SwarmFileIndex> upload;   // blobs that the store lacks, each once
    std::vector<SwarmFileIndex> replace;  // of these, those of a wrong size, which are in the way
    std::uint64_t upload_bytes = 0;
    std::optional<objectstore::Location> location;  // to be written
    bool layers = false;
    bool manifest = false;
    bool record = false;
    std::vector<std::size_t> tags;              // of those asked for
    [[nodiscard]] bool lacks_anything() const;  // of what readers need, names of the revision included
    [[nodiscard]] bool writes_nothing() const;
};

// `source`: where the files lie, for a publish in place. A revision whose blobs are all in the store stays there.
PublishPlan plan_publish(const model::Layout& layout, Placement placement, const objectstore::Location& source, const StoreFacts& facts);

}  // namespace shoal::seeder
