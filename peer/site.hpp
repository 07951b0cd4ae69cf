// The places of one fetch: where the files go, and where they are staged until all are verified. Value; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/files/file.hpp"
#include "peer/marker.hpp"

#include <string>

namespace shoal::peer {

using files::Path;

struct Site {
    Path directory;  // the files' own directory, with the marker
    Path shoal;      // `.shoal`, beside or in it; goes when empty
    Path base;       // what this directory's fetches share: the claim lies in it
    Path root;       // of --root; empty with --dest

    [[nodiscard]] Path marker() const { return directory / marker_name; }
    [[nodiscard]] Path work() const { return base / "work"; }          // the claimed directory
    [[nodiscard]] Path earlier() const { return work() / "earlier"; }  // the marker that was taken away
    [[nodiscard]] Path intent() const { return work() / "intent"; }    // the marker that will be put in place
    [[nodiscard]] Path room() const { return work() / "room"; }        // reserved for the intent, which is written into it
    [[nodiscard]] Path data(const RevisionId& revision) const { return work() / ("data-" + to_hex(revision).substr(0, 16)); }
    [[nodiscard]] static std::string staged_name(FileIndex file) { return "f" + std::to_string(file.value); }
    [[nodiscard]] Path staged(const RevisionId& revision, FileIndex file) const { return data(revision) / staged_name(file); }
    [[nodiscard]] Path final(const std::string& path) const { return directory / path; }
};

Site site_in_root(const Path& root, const std::string& model);
Site site_at(const Path& directory);

}  // namespace shoal::peer
