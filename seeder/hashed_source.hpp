// The hashing pass of a publish: everything that identifies a source, from one pass over its bytes.
#pragma once

#include "common/crypto/content_hasher.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "seeder/blob_copy.hpp"
#include "seeder/content_hashing.hpp"
#include "seeder/source_tree.hpp"

#include <optional>
#include <vector>

namespace shoal::seeder {

struct HashedSource {
    std::vector<crypto::ContentDigest> files;  // by FileIndex
    std::vector<crypto::TreeDigest> packs;
};

// The files of one pack, as it lays them end to end.
std::vector<Part> pack_parts(const SourceTree& tree, const std::vector<FileIndex>& files);

// How a source is read: as little as can be, since opening thousands of small files costs more than hashing them.
struct Reading {
    Help help = Help::yes;
    // Get each file of a pack (on any thread) and each pack while they are in memory anyway. May be empty.
    std::function<void(FileIndex file, ConstBytes bytes)> packed;
    std::function<Result<void>(const Digest& root, ConstBytes bytes)> pack;
};

// `packs`: as from model::pack_files().
Result<HashedSource> hash_source(
    Crew& crew, const SourceTree& tree, std::uint32_t piece_size, const std::vector<std::vector<FileIndex>>& packs, const Reading& reading);

// By FileIndex: the pack that holds it.
std::vector<std::optional<std::size_t>> packs_of_files(std::size_t files, const std::vector<std::vector<FileIndex>>& packs);

// Puts the digests into `manifest` (model, piece size and provenance are there).
void fill(model::Manifest& manifest, const SourceTree& tree, const HashedSource& hashed, const std::vector<std::vector<FileIndex>>& packs);
model::Layers layers_of(const model::Layout& layout, const HashedSource& hashed, const std::vector<std::optional<std::size_t>>& pack_of);

}  // namespace shoal::seeder
