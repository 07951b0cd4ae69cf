// The vectors of tests/golden, which a script wrote from docs/format.md alone: schema 1 means these bytes for ever.
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "common/model/torrent.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace shoal::model {
namespace {

std::string read(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Golden : public ::testing::TestWithParam<const char*> {
protected:
    std::filesystem::path directory = std::filesystem::path{SHOAL_GOLDEN} / GetParam();
    std::string manifest_bytes = read(directory / "manifest.json");
};

TEST_P(Golden, ManifestDecodesEncodesAndHasItsRevision)
{
    const auto manifest = decode_manifest(manifest_bytes);
    ASSERT_TRUE(manifest) << manifest.error().text();
    EXPECT_EQ(encode(manifest.value()), manifest_bytes);
    EXPECT_EQ(to_string(revision_of(manifest_bytes)) + "\n", read(directory / "revision"));
}

TEST_P(Golden, LayersLeadToTheRoots)
{
    const auto manifest = decode_manifest(manifest_bytes);
    ASSERT_TRUE(manifest) << manifest.error().text();
    const std::string bytes = read(directory / "layers");
    const auto layers = decode_layers(bytes, Layout{manifest.value()});
    ASSERT_TRUE(layers) << layers.error().text();
    EXPECT_EQ(encode(layers.value()), bytes);
}

TEST_P(Golden, TorrentIsDerivedToTheByte)
{
    const auto manifest = decode_manifest(manifest_bytes);
    ASSERT_TRUE(manifest) << manifest.error().text();
    const Layout layout{manifest.value()};
    const auto layers = decode_layers(read(directory / "layers"), layout);
    ASSERT_TRUE(layers) << layers.error().text();
    ASSERT_EQ(layout.pieces() == 0, !std::filesystem::exists(directory / "torrent")) << "nothing to exchange, no torrent";
    if (layout.pieces() == 0) return;
    const RevisionId revision = revision_of(manifest_bytes);
    EXPECT_EQ(torrent_file(layout, layers.value(), revision), read(directory / "torrent"));
    EXPECT_EQ(to_hex(info_hash(layout, revision)) + "\n", read(directory / "info_hash"));
}

INSTANTIATE_TEST_SUITE_P(Vectors, Golden, ::testing::Values("example", "few", "provenance", "names", "packs", "pack_cut", "twins", "empty"),
    [](const auto& vector) { return vector.param; });

}  // namespace
}  // namespace shoal::model
