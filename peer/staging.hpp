// The staged files on disk: what room they need, making it, and which pieces may lie in them already. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "peer/fetch_plan.hpp"
#include "peer/revision_data.hpp"
#include "peer/site.hpp"

#include <cstdint>
#include <vector>

namespace shoal::peer {

inline constexpr std::size_t sync_singly_up_to = 64;  // files; for more one syncfs costs less than an fsync of each

struct Space {
    std::uint64_t bytes = 0;
    std::uint64_t inodes = 0;
};

// Pure: no_space with the numbers, or success. A filesystem that reports no inodes (or no blocks) at all has no such limit.
struct FreeSpace {
    Space total, free;
};
Result<void> check_space(const Space& need, const FreeSpace& there, const Path& where);

Result<FreeSpace> free_space(const Path& where);

// What is still to be written: whole blocks of the staged files, of the directories that they will go to and of the marker, less what is there.
Space space_needed(const Site& site, const RevisionData& data, const FetchPlan& plan);

// Makes the data directory, removes what broken-off runs of other revisions left in the work directory, and makes every staged file, however small, and the
// marker's file (Site::room) with their size and their blocks: a disk that somebody else fills after this takes nothing from this fetch. Where the
// filesystem cannot reserve (NFS, FAT), they have their size alone, and a write may find no space.
Result<void> prepare(const Site& site, const RevisionData& data, const FetchPlan& plan);

// What earlier runs staged, written out and out of the page cache: where the disk did not take it, a later look shows what the disk has. An error of theirs
// is heard here, and not taken for one of the next writes.
void settle(const Site& site, const RevisionData& data, const FetchPlan& plan);

// By piece: some byte of it may have been written. Where the filesystem knows holes, only what is not a hole. Before prepare(), after which there may be
// filesystems that take reserved blocks for data.
std::vector<bool> maybe_written(const Site& site, const RevisionData& data, const FetchPlan& plan);

}  // namespace shoal::peer
