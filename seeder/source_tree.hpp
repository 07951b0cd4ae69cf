// What there is to publish below a directory (or one file): which files, under which paths, and what they looked like then. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/files/file.hpp"
#include "seeder/content.hpp"

#include <functional>
#include <string>
#include <vector>

namespace shoal::seeder {

// Include first, then exclude (docs/operations.md); no include takes all.
struct Selection {
    std::vector<std::string> include;
    std::vector<std::string> exclude;
    [[nodiscard]] bool takes(const std::string& path) const;
    [[nodiscard]] bool excludes(const std::string& path) const;  // also as a directory
};

struct SourceFile {
    std::string path;        // in the revision
    files::Path place;       // on this machine
    files::FileState state;  // of the file itself, links followed
};

struct SourceTree {
    files::Path root;               // absolute, no links: a file's path below it leads to its place
    std::vector<SourceFile> files;  // by the bytes of their paths
    [[nodiscard]] std::uint64_t bytes() const;
};

enum class Links { inside, follow };  // follow: also those that leave the tree

struct WalkOptions {
    Links links = Links::inside;
    Selection selection;
    std::function<bool()> keep_going = [] { return true; };  // asked now and then; false: interrupted
};

// not_found: no source, or nothing left to publish; not_allowed: a directory that cannot be read; invalid, in one message for all: what no revision can hold
// (links out of the tree or to nowhere, FIFOs, sockets, devices, names that cannot be stored). A `.shoal.json` and a `.shoal/` at the top are left out.
Result<SourceTree> walk_source(const std::string& source, const WalkOptions& options);

// The file's bytes; integrity, naming it, if it is not (any more) as it was seen.
Content content_of(const SourceFile& file);
Result<void> check_unchanged(const SourceFile& file);

// Pairs of paths that only differ in case: some filesystems cannot hold both.
std::vector<std::string> case_twins(const SourceTree& tree);

}  // namespace shoal::seeder
