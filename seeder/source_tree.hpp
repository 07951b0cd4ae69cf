// What there is to publish: which files, under which paths, and what they looked like then. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/origin/origin_gate.hpp"
#include "seeder/complaints.hpp"
#include "seeder/content.hpp"
#include "seeder/crew.hpp"

#include <functional>
#include <memory>
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
    std::string path;  // in the revision, and the key in the source's store
    std::uint64_t size = 0;
    objectstore::Version version;
    Content content;  // integrity, naming the file, if it is not (any more) as it was seen
};

struct SourceTree {
    std::string name;                                 // for messages
    std::string url;                                  // of the store whose keys the files are
    std::shared_ptr<objectstore::ObjectStore> store;  // that; none of a directory
    std::vector<SourceFile> files;                    // by the bytes of their paths
    std::function<Result<void>(Crew&)> check_unchanged;
    [[nodiscard]] std::uint64_t bytes() const;
};

enum class Links { inside, follow };  // follow: also those that leave the tree

struct WalkOptions {
    Links links = Links::inside;
    Selection selection;
    std::function<bool()> keep_going = [] { return true; };  // asked now and then; false: interrupted
    origin::OriginGate* gate = nullptr;                      // at which reads of contents wait; outlives the tree
};

// Of a directory, one file, or s3://bucket[/prefix]. not_found: no source, or nothing left to publish; not_allowed: what cannot be read; invalid, in one message
// for all: what no revision can hold (links out of the tree or to nowhere, FIFOs, sockets, devices, names that cannot be stored, a key below another one).
// A `.shoal.json` and a `.shoal/` at the top are left out, and so are keys that stand for directories.
Result<SourceTree> walk_source(const std::string& source, const WalkOptions& options);
Result<SourceTree> walk_directory(const std::string& source, const WalkOptions& options);
Result<SourceTree> list_source(const std::string& url, const WalkOptions& options);

// Pairs of paths that only differ in case: some filesystems cannot hold both.
std::vector<std::string> case_twins(const SourceTree& tree);

// The tree as it is published: sorted. invalid: `complaints`; not_found: no file is left.
Result<SourceTree> finished(SourceTree tree, const Complaints& complaints, const char* hint);
Error too_many_files(const SourceTree& tree);
// What reads and checks of a source that is not as it was seen fail with. `found`: "it gone", "12 bytes".
Error source_changed(const std::string& name, std::uint64_t size, const std::string& found);

}  // namespace shoal::seeder
