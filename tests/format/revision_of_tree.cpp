// Computes a revision from a directory with common/model and common/crypto, for format_test.py to compare.
// usage: revision_of_tree DIR OUT MODEL PIECE_SIZE|0 DATA_VERSION TRANSFORM_VERSION [KEY=VALUE]...
#include "common/crypto/content_hasher.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "common/model/torrent.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using shoal::Digest;
namespace crypto = shoal::crypto;
namespace model = shoal::model;

std::string read(const std::filesystem::path& path)
{
    std::string content(std::filesystem::file_size(path), '\0');
    std::ifstream(path, std::ios::binary).read(content.data(), static_cast<std::streamsize>(content.size()));
    return content;
}

void write(const std::filesystem::path& path, const std::string& content)
{
    std::ofstream(path, std::ios::binary) << content;
}

std::map<std::string, std::string> read_tree(const std::filesystem::path& root)
{
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        if (entry.is_regular_file()) files.emplace(entry.path().lexically_relative(root).string(), read(entry.path()));
    return files;
}

crypto::TreeDigest tree_of(const std::string& content, std::uint32_t piece_size)
{
    crypto::TreeHasher hasher{content.size(), piece_size};
    hasher.update(shoal::as_bytes(content));
    return hasher.finish();
}

// The layers of all that may be a swarm file, by pieces root.
using LayersByRoot = std::map<Digest, std::vector<Digest>>;

void add_files(model::Manifest& manifest, const std::map<std::string, std::string>& tree, LayersByRoot& layers)
{
    for (const auto& [path, content] : tree) {
        crypto::ContentHasher hasher{content.size(), manifest.piece_size};
        hasher.update(shoal::as_bytes(content));
        const crypto::ContentDigest digest = hasher.finish();
        manifest.files.push_back({path, content.size(), digest.tree.pieces_root, digest.sha256});
        layers[digest.tree.pieces_root] = digest.tree.layer;
    }
}

void add_packs(model::Manifest& manifest, const std::map<std::string, std::string>& tree, LayersByRoot& layers)
{
    std::vector<std::uint64_t> sizes;
    for (const model::File& file : manifest.files) sizes.push_back(file.size);
    for (const auto& files : model::pack_files(sizes, manifest.piece_size)) {
        std::string content;
        for (const shoal::FileIndex file : files) content += tree.at(manifest.files[file.value].path);
        const crypto::TreeDigest digest = tree_of(content, manifest.piece_size);
        manifest.packs.push_back({files, content.size(), digest.pieces_root});
        layers[digest.pieces_root] = digest.layer;
    }
}

model::Layers in_order(const model::Layout& layout, const LayersByRoot& by_root)
{
    model::Layers layers;
    for (const model::SwarmFile& file : layout.files()) {
        const auto& layer = by_root.at(file.pieces_root);
        layers.insert(layers.end(), layer.begin(), layer.end());
    }
    return layers;
}

void write_outputs(const std::filesystem::path& out, const model::Manifest& manifest, const LayersByRoot& by_root)
{
    const std::string bytes = model::encode(manifest);
    const shoal::RevisionId revision = model::revision_of(bytes);
    const model::Layout layout{manifest};
    const model::Layers layers = in_order(layout, by_root);
    write(out / "manifest.json", bytes);
    write(out / "revision", to_string(revision) + "\n");
    write(out / "layers", model::encode(layers));
    if (layout.pieces() == 0) return;
    write(out / "torrent", model::torrent_file(layout, layers, revision));
    write(out / "info_hash", to_hex(model::info_hash(layout, revision)) + "\n");
}

int run(const std::vector<std::string>& arguments)
{
    const auto tree = read_tree(arguments[0]);
    model::Manifest manifest;
    manifest.model = arguments[2];
    std::uint64_t total = 0;
    for (const auto& [path, content] : tree) total += content.size();
    const auto piece_size = static_cast<std::uint32_t>(std::stoul(arguments[3]));
    manifest.piece_size = piece_size != 0 ? piece_size : model::default_piece_size(total);
    manifest.data_version = arguments[4];
    manifest.transform_version = arguments[5];
    for (std::size_t i = 6; i < arguments.size(); ++i) {
        const std::size_t equals = arguments[i].find('=');
        manifest.annotations.emplace(arguments[i].substr(0, equals), arguments[i].substr(equals + 1));
    }
    LayersByRoot layers;
    add_files(manifest, tree, layers);
    add_packs(manifest, tree, layers);
    const auto checked = model::check(manifest);
    if (!checked) std::fprintf(stderr, "%s\n", checked.error().text().c_str());
    if (checked) write_outputs(arguments[1], manifest, layers);
    return checked ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return arguments.size() < 6 ? EXIT_FAILURE : run(arguments);
}
