// Where the bytes of a revision stand in its swarm: swarm files, pieces, and the ranges of files that they cover. Immutable; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/model/manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::model {

// One file of the torrent: a file of the model, or a pack. Empty files are in none.
struct SwarmFile {
    std::string path;  // of the file, or ".shoal/pack-00000"
    std::uint64_t size = 0;
    Digest pieces_root;
    std::uint32_t first_piece = 0;
    std::uint32_t pieces = 0;
    std::vector<FileIndex> files;  // end to end; one for an ordinary file
};

// `length` bytes at `offset` of a file.
struct Extent {
    FileIndex file;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    bool operator==(const Extent&) const = default;
};

struct PiecePlace {
    SwarmFileIndex file;
    std::uint64_t offset = 0;  // in the swarm file
    std::uint32_t length = 0;  // bytes; the last piece of a swarm file may be short
};

class Layout {
public:
    explicit Layout(const Manifest& manifest);  // manifest passed check()

    [[nodiscard]] std::uint32_t piece_size() const { return piece_size_; }
    [[nodiscard]] std::uint32_t pieces() const { return pieces_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] const std::vector<SwarmFile>& files() const { return files_; }  // in the torrent's order: by the bytes of their path's parts
    [[nodiscard]] PiecePlace place(PieceIndex piece) const;
    // The files' ranges behind `length` bytes at `offset` of a piece; inside the piece.
    [[nodiscard]] std::vector<Extent> extents(PieceIndex piece, std::uint32_t offset, std::uint32_t length) const;
    // The pieces that hold bytes of a file: [first, last). Empty for an empty file.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> pieces_of(FileIndex file) const;

private:
    struct Home {
        SwarmFileIndex swarm_file;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
    };
    std::uint32_t piece_size_;
    std::uint32_t pieces_ = 0;
    std::uint64_t bytes_ = 0;
    std::vector<SwarmFile> files_;
    std::vector<Home> homes_;  // by FileIndex
};

}  // namespace shoal::model
