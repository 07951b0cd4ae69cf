// The marker `.shoal.json` of a fetched directory (docs/operations.md): what lies there, and that all of it was verified. Values; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::peer {

inline constexpr const char* marker_name = ".shoal.json";
inline constexpr std::size_t max_marker_bytes = 64U << 20U;

// A file in its place, as it was when it had been verified and synced.
struct MarkedFile {
    std::string path;  // passed model::check_path
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::uint64_t inode = 0;
    bool operator==(const MarkedFile&) const = default;
};

struct Marker {
    std::string model;
    RevisionId revision;
    std::string tag;  // empty unless it was asked for by one
    std::vector<std::string> include, exclude;
    bool whole = false;       // every file of the revision is among `files`
    std::uint64_t bytes = 0;  // of `files`
    std::string time;         // UTC, RFC 3339
    std::string by;           // program, version and node
    std::vector<MarkedFile> files;
    std::string manifest;  // the exact bytes, so that a later check needs nobody
    std::string layers;    // as model::encode makes them
    bool operator==(const Marker&) const = default;
};

std::string encode(const Marker& marker);

// Strict, with limits (size as above, 50 000 files, depth 4); unknown keys are ignored. Fails with malformed or too_large; never throws.
Result<Marker> decode_marker(std::string_view bytes);

}  // namespace shoal::peer
