// The keys below a directory in the order of their bytes, a page at a time, without looking into what the page does not need. Any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/files/file.hpp"
#include "common/objectstore/object_store.hpp"

#include <string>
#include <string_view>

namespace shoal::objectstore {

// Where a key lies below a root: its parts are the path's. invalid for keys that no path can hold or that would leave the root: empty, "." and ".." parts,
// NUL, and the names that writers use on their way (reserved()).
Result<files::Path> path_of_key(const files::Path& root, const std::string& key);

// Names that are never keys: half-written files and locks.
inline constexpr std::string_view temporary_prefix = ".shoal-tmp-";
inline constexpr std::string_view lock_name = ".shoal-lock";
bool reserved(std::string_view name);

Version version_of(const files::FileState& state);  // "<mtime in ns>-<size>-<inode>"

// As ObjectStore::list.
Result<Page> list_directory(const files::Path& root, const std::string& prefix, const std::string& after, std::size_t limit);

}  // namespace shoal::objectstore
