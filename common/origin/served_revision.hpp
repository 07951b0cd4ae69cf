// What is read before a revision's pieces can be: manifest, layers, location; never the model. Blocks: workers only.
#pragma once

#include "common/core/ids.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/origin/origin_storage.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shoal::origin {

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

// Where the pieces of a revision lie: the store itself and no files, or the store of files indexed in place. As load_revision().
struct Located {
    std::shared_ptr<objectstore::ObjectStore> store;
    std::vector<objectstore::SourceFile> files;
};
Result<Located> locate(const std::shared_ptr<objectstore::ObjectStore>& store, const objectstore::PublishedRevision& published, const OpenSource& open_source);

// Reads that piece, for which the revision was withdrawn: success if it is right again.
Result<void> prove(const ServedRevision& revision, PieceIndex piece);

}  // namespace shoal::origin
