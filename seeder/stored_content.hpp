// The bytes of objects in a store, read as contents. Any thread.
#pragma once

#include "common/objectstore/object_store.hpp"
#include "common/origin/origin_gate.hpp"
#include "seeder/content.hpp"

#include <cstdint>
#include <string>

namespace shoal::seeder {

// `size` bytes at `offset` of an object. Without a version, opening looks at it: not_found, or integrity if `whole` and the object is not exactly that long.
struct ObjectRange {
    std::string key;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool whole = true;
    objectstore::Version version;  // if not empty: a read is changed if another is there
};

// Reads wait at the gate, where there is one; it and the store outlive the content. What is expected is read ahead from a remote store, 32 MiB at most.
Content content_of(objectstore::ObjectStore& store, ObjectRange range, origin::OriginGate* gate = nullptr);

}  // namespace shoal::seeder
