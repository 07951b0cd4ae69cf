// The small writes of a publish, and what the store held before. Blocking; any thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/objectstore/object_store.hpp"
#include "seeder/publish_plan.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::seeder {

// What a revision is in the store, beside its blobs.
struct SmallObjects {
    std::string model;
    RevisionId revision;
    std::string manifest;
    std::string layers;
    std::vector<std::string> tags;
};

Result<StoreFacts> look(objectstore::ObjectStore& store, const SmallObjects& objects, const model::Manifest& manifest);  // but for the blobs
Result<std::optional<std::uint64_t>> blob_size(objectstore::ObjectStore& store, const Digest& root);

// Layers, location, manifest, record, tags: in this order, so that nobody finds a name before what it names.
Result<void> write_names(objectstore::ObjectStore& store, const SmallObjects& objects, const PublishPlan& plan);

// Until no announced removal shares a blob with `manifest`, but not longer than `within`: what is left then was broken off, and removes nothing. interrupted.
Result<void> wait_for_removals(objectstore::ObjectStore& store, const model::Manifest& manifest, Duration within, const std::function<bool()>& keep_going);

}  // namespace shoal::seeder
