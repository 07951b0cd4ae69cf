// The bytes of a published revision, where its location says they are. Any thread.
#pragma once

#include "common/model/layout.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/object_store.hpp"
#include "seeder/content.hpp"

#include <memory>
#include <string>

namespace shoal::seeder {

// `size` bytes at `offset` of an object. Opening looks at it: not_found, or integrity if `whole` and the object is not exactly that long.
struct ObjectRange {
    std::string key;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool whole = true;
    objectstore::Version version;  // if not empty: a read is changed if another is there
};

Content content_of(objectstore::ObjectStore& store, ObjectRange range);

}  // namespace shoal::seeder
