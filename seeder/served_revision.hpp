// What the seeder reads before it can serve a revision: manifest, layers, location; never the model. Blocks: workers only.
#pragma once

#include "common/core/ids.hpp"
#include "common/objectstore/object_store.hpp"
#include "seeder/origin_storage.hpp"

#include <functional>
#include <memory>

namespace shoal::seeder {

struct ServedRevision {
    RevisionId id;
    std::shared_ptr<const model::Manifest> manifest;
    std::shared_ptr<const model::Layout> layout;
    std::shared_ptr<const model::Layers> layers;
    std::shared_ptr<OriginStorage> storage;
};

// Opens the store that files indexed in place lie in.
using OpenSource = std::function<Result<std::shared_ptr<objectstore::ObjectStore>>(const std::string& url)>;

// not_found, integrity, malformed, too_large: the store lacks it or is damaged, the object is named. Else what the store said.
Result<ServedRevision> load_revision(
    const std::shared_ptr<objectstore::ObjectStore>& store, const RevisionId& revision, const OpenSource& open_source, const OriginAccess& access);

// Reads that piece, for which the revision was withdrawn: success if it is right again.
Result<void> prove(const ServedRevision& revision, PieceIndex piece);

}  // namespace shoal::seeder
