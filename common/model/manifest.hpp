// The canonical list of a revision's files (docs/format.md). Values; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::model {

inline constexpr std::size_t max_manifest_bytes = 16U << 20U;
inline constexpr std::size_t max_files = 50'000;
inline constexpr std::uint32_t max_pieces = 65'536;
inline constexpr std::uint32_t min_piece_size = 256U << 10U;
inline constexpr std::uint32_t max_piece_size = 16U << 20U;
inline constexpr std::uint64_t max_pack_bytes = 64U << 20U;
inline constexpr std::uint64_t max_file_bytes = std::uint64_t{max_pieces} * max_piece_size;  // 1 TiB
inline constexpr std::size_t max_version_bytes = 1024;                                       // of data and transform version
inline constexpr std::size_t max_annotations = 256;
inline constexpr std::size_t max_annotation_key = 128;     // bytes: [A-Za-z0-9][A-Za-z0-9._/-]*, so that sorting them is never a question
inline constexpr std::size_t max_annotation_value = 4096;  // bytes of UTF-8
inline constexpr std::size_t pack_threshold = 256;         // packs exist when more files than this are smaller than a piece

struct File {
    std::string path;  // passed check_path
    std::uint64_t size = 0;
    Digest pieces_root;  // zero for an empty file, which has none
    Digest sha256;       // of the content, as sha256sum prints it
    bool operator==(const File&) const = default;
};

// Small files laid end to end without padding: one file of the torrent.
struct Pack {
    std::vector<FileIndex> files;  // ascending
    std::uint64_t size = 0;
    Digest pieces_root;
    bool operator==(const Pack&) const = default;
};

struct Manifest {
    std::string model;
    std::uint32_t piece_size = min_piece_size;
    std::vector<File> files;  // by the bytes of their paths, no two equal, none another's directory
    std::vector<Pack> packs;  // exactly those that pack_files() gives
    std::string data_version;
    std::string transform_version;
    std::map<std::string, std::string> annotations;

    [[nodiscard]] std::uint64_t bytes() const;
    bool operator==(const Manifest&) const = default;
};

// Canonical JSON (RFC 8785, integers only). encode(decode(x)) == x for every x that decodes.
std::string encode(const Manifest& manifest);

// Strict: canonical bytes only, every rule of docs/format.md, the limits above. Fails with malformed or too_large, never throws.
Result<Manifest> decode_manifest(std::string_view bytes);

// The rules that do not need the encoded form: order, paths, packs, limits. Fails with invalid, naming the file.
Result<void> check(const Manifest& manifest);

RevisionId revision_of(std::string_view manifest_bytes);

// By the revision's bytes: 256 KiB below 2 GiB, 1 MiB below 16 GiB, 4 MiB below 64 GiB, 8 MiB below 128 GiB, else 16 MiB.
std::uint32_t default_piece_size(std::uint64_t bytes);

// Which files share a pack, from sizes in manifest order. Empty when there are at most pack_threshold small ones.
std::vector<std::vector<FileIndex>> pack_files(const std::vector<std::uint64_t>& sizes, std::uint32_t piece_size);

}  // namespace shoal::model
