// A directory store in a temporary directory, with models put there the plain way: whole files in memory, no publish involved.
#pragma once

#include "common/crypto/block_tree.hpp"
#include "common/crypto/sha256.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"
#include "common/objectstore/object_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

namespace shoal::seeder {

using Files = std::map<std::string, std::string>;  // path to content

// Bytes that differ from place to place.
inline std::string noise(std::size_t size, std::uint32_t seed)
{
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        seed = seed * 1664525U + 1013904223U;
        byte = static_cast<char>(seed >> 24U);
    }
    return bytes;
}

struct Placed {
    RevisionId id;
    model::Manifest manifest;
    model::Layers layers;
    [[nodiscard]] model::Layout layout() const { return model::Layout{manifest}; }
    // What a piece must hold.
    [[nodiscard]] std::string piece(PieceIndex index, const Files& files) const
    {
        const model::Layout where = layout();
        std::string bytes;
        for (const model::Extent& extent : where.extents(index, 0, where.place(index).length))
            bytes += files.at(manifest.files[extent.file.value].path).substr(extent.offset, extent.length);
        return bytes;
    }
};

class Shelf {
public:
    Shelf()
    {
        std::string name = (std::filesystem::temp_directory_path() / "shelf-XXXXXX").string();
        root_ = mkdtemp(name.data());
        std::filesystem::create_directories(root_ / "store");
        std::filesystem::create_directories(root_ / "source");
        store_ = objectstore::open_store(url()).value();
    }
    ~Shelf() { std::filesystem::remove_all(root_); }
    Shelf(const Shelf&) = delete;
    Shelf& operator=(const Shelf&) = delete;

    [[nodiscard]] std::string url() const { return objectstore::file_url((root_ / "store").string()); }
    [[nodiscard]] std::string source_url() const { return objectstore::file_url((root_ / "source").string()); }
    [[nodiscard]] std::filesystem::path source(const std::string& path) const { return root_ / "source" / path; }
    [[nodiscard]] std::filesystem::path object(const std::string& key) const { return root_ / "store" / key; }

    // As blobs of the store.
    Placed place(const std::string& model, const Files& files)
    {
        Placed placed = describe(model, files);
        const model::Layout layout = placed.layout();
        for (const model::SwarmFile& file : layout.files()) put(objectstore::blob_key(file.pieces_root), content(placed.manifest, file, files));
        put_records(placed, {});
        return placed;
    }

    // Where they are: files in another directory, which the store only points to.
    Placed index(const std::string& model, const Files& files)
    {
        Placed placed = describe(model, files);
        for (const auto& [path, bytes] : files) overwrite(source(path), bytes);
        put_records(placed, locate(placed));
        return placed;
    }
    // The index again, with the versions that the files have now.
    void index_again(const Placed& placed) { put(objectstore::location_key(placed.id), objectstore::encode(locate(placed))); }

    static void overwrite(const std::filesystem::path& path, const std::string& bytes)
    {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    static void flip(const std::filesystem::path& path, std::uint64_t offset)
    {
        std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
        file.seekg(static_cast<std::streamoff>(offset));
        const char byte = static_cast<char>(file.get() ^ 1);
        file.seekp(static_cast<std::streamoff>(offset));
        file.put(byte);
    }

private:
    static std::vector<Digest> layer_of(const std::string& bytes, std::uint32_t piece_size)
    {
        std::vector<Digest> leaves(crypto::blocks_in(bytes.size()));
        crypto::hash_blocks(as_bytes(bytes), leaves);
        crypto::LayerBuilder builder{bytes.size(), piece_size};
        builder.add(leaves);
        return builder.take_layer();
    }

    static std::string content(const model::Manifest& manifest, const model::SwarmFile& file, const Files& files)
    {
        std::string bytes;
        for (const FileIndex index : file.files) bytes += files.at(manifest.files[index.value].path);
        return bytes;
    }

    static Placed describe(const std::string& model, const Files& files)
    {
        Placed placed;
        model::Manifest& manifest = placed.manifest;
        manifest.model = model;
        std::vector<std::uint64_t> sizes;
        for (const auto& [path, bytes] : files) {
            sizes.push_back(bytes.size());
            const Digest root = bytes.empty() ? Digest{} : crypto::root_of_layer(layer_of(bytes, manifest.piece_size), manifest.piece_size);
            manifest.files.push_back({path, bytes.size(), root, crypto::sha256(as_bytes(bytes))});
        }
        for (const std::vector<FileIndex>& members : model::pack_files(sizes, manifest.piece_size)) {
            model::Pack pack{members, 0, {}};
            std::string bytes;
            for (const FileIndex index : members) bytes += files.at(manifest.files[index.value].path);
            pack.size = bytes.size();
            pack.pieces_root = crypto::root_of_layer(layer_of(bytes, manifest.piece_size), manifest.piece_size);
            manifest.packs.push_back(pack);
        }
        const model::Layout layout = placed.layout();
        for (const model::SwarmFile& file : layout.files()) {
            const std::vector<Digest> layer = layer_of(content(manifest, file, files), manifest.piece_size);
            placed.layers.insert(placed.layers.end(), layer.begin(), layer.end());
        }
        placed.id = model::revision_of(model::encode(manifest));
        return placed;
    }

    [[nodiscard]] objectstore::Location locate(const Placed& placed) const
    {
        const auto sources = objectstore::open_store(source_url()).value();
        objectstore::Location location{source_url(), {}};
        for (const model::File& file : placed.manifest.files) location.files.push_back({file.path, sources->head(file.path).value().version});
        return location;
    }

    void put_records(const Placed& placed, const objectstore::Location& location)
    {
        put(objectstore::layers_key(placed.id), model::encode(placed.layers));
        put(objectstore::location_key(placed.id), objectstore::encode(location));
        put(objectstore::manifest_key(placed.id), model::encode(placed.manifest));
        put(objectstore::revision_key(placed.manifest.model, placed.id), objectstore::encode_pointer(placed.id));
    }

    void put(const std::string& key, const std::string& bytes)
    {
        const auto written = store_->put(key, bytes, objectstore::Condition::always());
        ASSERT_TRUE(written) << written.error().text();
    }

    std::filesystem::path root_;
    std::unique_ptr<objectstore::ObjectStore> store_;
};

}  // namespace shoal::seeder
