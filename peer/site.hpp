// The places of one fetch: where the files go, and where they are staged until all are verified. Value; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/files/file.hpp"
#include "peer/marker.hpp"

#include <cstdint>
#include <string>
#include <vector>

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
    // In directories of a few: ext4 puts the inodes of one directory into one group, and looks past each that was deleted there within minutes: 10 000 files
    // in one directory took 0.3 to 4 s to create, in directories of 128 always 0.3.
    static constexpr std::uint32_t staged_together = 128;
    [[nodiscard]] Path staged_directory(const RevisionId& revision, FileIndex file) const
    {
        return data(revision) / std::to_string(file.value / staged_together);
    }
    [[nodiscard]] Path staged(const RevisionId& revision, FileIndex file) const
    {
        return staged_directory(revision, file) / ("f" + std::to_string(file.value));
    }
    [[nodiscard]] std::vector<Path> staged_directories(const RevisionId& revision, const std::vector<FileIndex>& files) const;  // `files` ascending; each once
    [[nodiscard]] Path final(const std::string& path) const { return directory / path; }
};

Site site_in_root(const Path& root, const std::string& model);
Site site_at(const Path& directory);

}  // namespace shoal::peer
