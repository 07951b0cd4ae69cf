// Reads files in their final place and tells which ranges are not what the revision says. Only reads. Blocking; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "peer/revision_data.hpp"
#include "peer/site.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::peer {

// `length` bytes at `offset` of a file are missing, unreadable or wrong.
struct Fault {
    FileIndex file;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::string expected, found;  // digests, sizes, or what the system said
};

// Faults of the files that `which` names, in file order. Files of whole pieces are told piece by piece, small ones whole.
Result<std::vector<Fault>> check_content(const Site& site, const RevisionData& data, const std::vector<bool>& which, const std::atomic<bool>& cancelled);

}  // namespace shoal::peer
