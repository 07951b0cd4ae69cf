// Brings contents into the store as blobs, each checked again on the way: what is read is not what was hashed if its source changed in between. Blocking.
#pragma once

#include "common/core/ids.hpp"
#include "common/objectstore/object_store.hpp"
#include "seeder/content.hpp"
#include "seeder/crew.hpp"

#include <memory>
#include <string>
#include <vector>

namespace shoal::seeder {

// Files that lie end to end in one range of bytes.
struct Part {
    std::string name;  // for messages
    Content content;
    std::uint64_t offset = 0;  // in the range
};

// Reads all parts into `out`, on the crew. `seen` gets each part's bytes or failure, from any thread; its own failure ends it.
using PartSink = std::function<Result<void>(std::size_t part, Result<ConstBytes> bytes)>;
Result<void> read_parts(Crew& crew, const std::vector<Part>& parts, MutableBytes out, const PartSink& seen);

// On the calling thread. integrity, naming the file, if the bytes' pieces root is not `root`; then nothing is visible.
Result<void> copy_file(const Crew& crew, objectstore::ObjectStore& store, const Part& file, const Digest& root, std::uint32_t piece_size);

// On the crew. `sha256`: of each part.
Result<void> copy_pack(Crew& crew, objectstore::ObjectStore& store, const std::vector<Part>& parts, const std::vector<Digest>& sha256, const Digest& root);

}  // namespace shoal::seeder
