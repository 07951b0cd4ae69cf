#include "seeder/hashed_source.hpp"

#include "common/origin/pack_memory.hpp"
#include <algorithm>

namespace shoal::seeder {
namespace {

// The files outside packs, each with its place in the manifest.
Result<void> hash_files(Crew& crew, const SourceTree& tree, std::uint32_t piece_size, const std::vector<std::optional<std::size_t>>& pack_of,
    const Reading& reading, HashedSource& hashed)
{
    std::vector<Content> contents;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < tree.files.size(); ++i) {
        if (pack_of[i]) continue;
        contents.push_back(tree.files[i].content);
        index.push_back(i);
    }
    return hash_contents(crew, contents, piece_size, reading.help, [&](std::size_t i, Result<crypto::ContentDigest> digest) -> Result<void> {
        BOOST_OUTCOME_TRY(done, digest);
        hashed.files[index[i]] = std::move(done);
        return success();
    });
}

Result<crypto::TreeDigest> hash_pack(
    Crew& crew, const SourceTree& tree, std::uint32_t piece_size, const std::vector<FileIndex>& files, const Reading& reading, HashedSource& hashed)
{
    const std::vector<Part> parts = pack_parts(tree, files);
    const std::uint64_t size = parts.back().offset + parts.back().content.size;
    const origin::PackMemory buffer = origin::memory_for_pack(size);
    const MutableBytes bytes{buffer.get(), size};
    BOOST_OUTCOME_TRY(read_parts(crew, parts, bytes, [&](std::size_t i, Result<ConstBytes> read) -> Result<void> {
        BOOST_OUTCOME_TRY(part, read);
        hashed.files[files[i].value] = hash_small(part, piece_size);
        if (reading.packed) reading.packed(files[i], part);
        return success();
    }));
    BOOST_OUTCOME_TRY(pack, hash_tree(crew, bytes, piece_size));
    if (reading.pack) {
        BOOST_OUTCOME_TRY(reading.pack(pack.pieces_root, bytes));
    }
    return std::move(pack);
}

}  // namespace

std::vector<Part> pack_parts(const SourceTree& tree, const std::vector<FileIndex>& files)
{
    std::vector<Part> parts;
    std::uint64_t offset = 0;
    for (const FileIndex file : files) {
        const SourceFile& source = tree.files[file.value];
        parts.push_back({source.path, source.content, offset});
        offset += source.size;
    }
    return parts;
}

Result<HashedSource> hash_source(
    Crew& crew, const SourceTree& tree, std::uint32_t piece_size, const std::vector<std::vector<FileIndex>>& packs, const Reading& reading)
{
    HashedSource hashed;
    hashed.files.resize(tree.files.size());
    BOOST_OUTCOME_TRY(hash_files(crew, tree, piece_size, packs_of_files(tree.files.size(), packs), reading, hashed));
    for (const std::vector<FileIndex>& files : packs) {
        BOOST_OUTCOME_TRY(pack, hash_pack(crew, tree, piece_size, files, reading, hashed));
        hashed.packs.push_back(std::move(pack));
    }
    return hashed;
}

std::vector<std::optional<std::size_t>> packs_of_files(std::size_t files, const std::vector<std::vector<FileIndex>>& packs)
{
    std::vector<std::optional<std::size_t>> pack_of(files);
    for (std::size_t pack = 0; pack < packs.size(); ++pack)
        for (const FileIndex file : packs[pack]) pack_of[file.value] = pack;
    return pack_of;
}

void fill(model::Manifest& manifest, const SourceTree& tree, const HashedSource& hashed, const std::vector<std::vector<FileIndex>>& packs)
{
    for (std::size_t i = 0; i < tree.files.size(); ++i)
        manifest.files.push_back({tree.files[i].path, tree.files[i].size, hashed.files[i].tree.pieces_root, hashed.files[i].sha256});
    for (std::size_t i = 0; i < packs.size(); ++i) {
        std::uint64_t size = 0;
        for (const FileIndex file : packs[i]) size += tree.files[file.value].size;
        manifest.packs.push_back({packs[i], size, hashed.packs[i].pieces_root});
    }
}

model::Layers layers_of(const model::Layout& layout, const HashedSource& hashed, const std::vector<std::optional<std::size_t>>& pack_of)
{
    model::Layers layers(layout.pieces());
    for (const model::SwarmFile& file : layout.files()) {
        const std::uint32_t first = file.files.front().value;
        const crypto::TreeDigest& tree = pack_of[first] ? hashed.packs[*pack_of[first]] : hashed.files[first].tree;
        std::copy(tree.layer.begin(), tree.layer.end(), layers.begin() + file.first_piece);
    }
    return layers;
}

}  // namespace shoal::seeder
