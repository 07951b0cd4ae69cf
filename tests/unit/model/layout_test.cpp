#include "common/model/layout.hpp"

#include "common/core/random.hpp"
#include "common/crypto/block_tree.hpp"
#include "common/crypto/sha256.hpp"
#include "common/model/layers.hpp"
#include "common/model/torrent.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace shoal::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t piece = min_piece_size;

Manifest manifest_of(const std::vector<std::pair<std::string, std::uint64_t>>& files)
{
    Manifest manifest;
    manifest.model = "llama";
    std::vector<std::uint64_t> sizes;
    for (const auto& [path, size] : files) {
        manifest.files.push_back({path, size, size == 0 ? Digest{} : crypto::sha256(as_bytes(path)), crypto::sha256({})});
        sizes.push_back(size);
    }
    for (auto& members : pack_files(sizes, manifest.piece_size)) {
        Pack pack{members, 0, crypto::sha256(as_bytes("pack"))};
        for (const FileIndex index : members) pack.size += sizes[index.value];
        manifest.packs.push_back(std::move(pack));
    }
    return manifest;
}

std::vector<std::string> paths(const Layout& layout)
{
    std::vector<std::string> found;
    for (const SwarmFile& file : layout.files()) found.push_back(file.path);
    return found;
}

// 300 files of 1000 bytes, then one of a piece and a half.
Manifest packed_manifest()
{
    std::vector<std::pair<std::string, std::uint64_t>> files;
    for (int i = 100; i < 400; ++i) files.emplace_back("f" + std::to_string(i), 1000);
    files.emplace_back("large", piece * 3 / 2);
    return manifest_of(files);
}

TEST(Layout, OrdersByThePartsOfPaths)
{
    EXPECT_THAT(paths(Layout{manifest_of({{"a-b", 1}, {"a.txt", 1}, {"a/b", 1}, {"a/c/d", 1}, {"ab", 1}})}), ElementsAre("a/b", "a/c/d", "a-b", "a.txt", "ab"));
    EXPECT_THAT(paths(Layout{manifest_of({{"Z", 1}, {"z", 1}, {"\xc3\xa9", 1}})}), ElementsAre("Z", "z", "\xc3\xa9"));
}

TEST(Layout, PiecesNeverSpanSwarmFiles)
{
    const Layout layout{manifest_of({{"a", 1}, {"b", piece}, {"c", 2 * piece + 1}})};
    EXPECT_EQ(layout.pieces(), 5U);
    EXPECT_EQ(layout.bytes(), 3U * piece + 2);
    EXPECT_EQ(layout.place({0}).length, 1U);
    EXPECT_EQ(layout.place({1}).length, piece);
    const PiecePlace last = layout.place({4});
    EXPECT_EQ(last.file.value, 2U);
    EXPECT_EQ(last.offset, 2U * piece);
    EXPECT_EQ(last.length, 1U);
}

TEST(Layout, EmptyFilesAreInNoSwarmFile)
{
    const Layout layout{manifest_of({{"a", 0}, {"b", 1}})};
    EXPECT_THAT(paths(layout), ElementsAre("b"));
    EXPECT_EQ(layout.pieces_of({0}), (std::pair{0U, 0U}));
    EXPECT_EQ(layout.pieces_of({1}), (std::pair{0U, 1U}));
    EXPECT_EQ(Layout{manifest_of({{"a", 0}})}.pieces(), 0U);
}

TEST(Layout, PacksComeUnderShoalsOwnName)
{
    const Layout layout{packed_manifest()};
    EXPECT_THAT(paths(layout), ElementsAre(".shoal/pack-00000", "large"));
    EXPECT_EQ(layout.files()[0].size, 300'000U);
    EXPECT_EQ(layout.files()[0].files.size(), 300U);
    EXPECT_EQ(layout.pieces(), 4U);
}

TEST(Layout, ExtentsOfAPackGoThroughItsFiles)
{
    const Layout layout{packed_manifest()};
    EXPECT_THAT(layout.extents({0}, 0, 1000), ElementsAre(Extent{{0}, 0, 1000}));
    EXPECT_THAT(layout.extents({0}, 999, 1002), ElementsAre(Extent{{0}, 999, 1}, Extent{{1}, 0, 1000}, Extent{{2}, 0, 1}));
    EXPECT_THAT(layout.extents({1}, 0, 1), ElementsAre(Extent{{262}, 144, 1}));
    EXPECT_THAT(layout.extents({3}, 5, 7), ElementsAre(Extent{{300}, piece + 5, 7}));
    EXPECT_TRUE(layout.extents({0}, 5, 0).empty());
}

TEST(Layout, PiecesOfAFileInAPackAreThoseItTouches)
{
    const Layout layout{packed_manifest()};
    EXPECT_EQ(layout.pieces_of({0}), (std::pair{0U, 1U}));
    EXPECT_EQ(layout.pieces_of({262}), (std::pair{0U, 2U})) << "bytes 262000 to 263000 cross the piece's end at 262144";
    EXPECT_EQ(layout.pieces_of({299}), (std::pair{1U, 2U}));
    EXPECT_EQ(layout.pieces_of({300}), (std::pair{2U, 4U}));
}

TEST(Layout, EveryByteOfEveryFileLiesInExactlyOnePlace)
{
    Random random{17};
    std::vector<std::pair<std::string, std::uint64_t>> files;
    for (int i = 1000; i < 1400; ++i) files.emplace_back(std::to_string(i), random() % (i % 50 == 0 ? 3 * piece : 20'000));
    const Manifest manifest = manifest_of(files);
    const Layout layout{manifest};
    std::vector<std::uint64_t> covered(files.size());
    for (std::uint32_t index = 0; index < layout.pieces(); ++index) {
        for (const Extent& extent : layout.extents({index}, 0, layout.place({index}).length)) {
            ASSERT_EQ(extent.offset, covered[extent.file.value]) << "in order, without gap";
            covered[extent.file.value] += extent.length;
            const auto [first, last] = layout.pieces_of(extent.file);
            ASSERT_TRUE(index >= first && index < last);
        }
    }
    for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(covered[i], files[i].second) << files[i].first;
}

// Two swarm files with real roots over made-up piece digests.
struct Checked {
    Manifest manifest = manifest_of({{"a", 3 * piece}, {"b", 5}});
    Layers layers{4};
    Checked()
    {
        for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = crypto::sha256(as_bytes(std::to_string(i)));
        manifest.files[0].pieces_root = crypto::root_of_layer({layers.data(), 3}, piece);
        manifest.files[1].pieces_root = layers[3];
    }
};

TEST(Layers, ComeBackWhenTheyLeadToTheRoots)
{
    const Checked given;
    const std::string bytes = encode(given.layers);
    EXPECT_EQ(bytes.size(), 128U);
    const auto decoded = decode_layers(bytes, Layout{given.manifest});
    ASSERT_TRUE(decoded) << decoded.error().text();
    EXPECT_EQ(decoded.value(), given.layers);
}

TEST(Layers, OneWrongByteIsAnIntegrityErrorThatNamesTheSwarmFile)
{
    const Checked given;
    for (std::size_t at = 0; at < 128; ++at) {
        std::string bytes = encode(given.layers);
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        const auto decoded = decode_layers(bytes, Layout{given.manifest});
        ASSERT_FALSE(decoded) << at;
        EXPECT_EQ(decoded.error().code, Errc::integrity);
        EXPECT_THAT(decoded.error().message, HasSubstr(at < 96 ? "'a'" : "'b'"));
    }
}

TEST(Layers, AnotherLengthIsAnIntegrityError)
{
    const Checked given;
    for (const std::size_t size : {0U, 1U, 127U})
        EXPECT_EQ(decode_layers(encode(given.layers).substr(0, size), Layout{given.manifest}).error().code, Errc::integrity);
    EXPECT_EQ(decode_layers(encode(given.layers) + "x", Layout{given.manifest}).error().code, Errc::integrity);
}

TEST(Torrent, ASwarmKeyMakesAnotherInfoHashAndDoesNotShow)
{
    const Checked given;
    const Layout layout{given.manifest};
    const RevisionId revision = revision_of("r");
    const Digest key = crypto::sha256(as_bytes("secret"));
    EXPECT_NE(info_hash(layout, revision), info_hash(layout, revision, key));
    EXPECT_NE(info_hash(layout, revision, key), info_hash(layout, revision, crypto::sha256(as_bytes("other"))));
    const std::string raw{reinterpret_cast<const char*>(key.bytes.data()), Digest::size};
    EXPECT_EQ(torrent_file(layout, given.layers, revision, key).find(raw), std::string::npos);
}

TEST(Torrent, InfoHashIsThatOfTheInfoDictionary)
{
    const Checked given;
    const Layout layout{given.manifest};
    const RevisionId revision = revision_of("r");
    const std::string info = info_dictionary(layout, revision);
    EXPECT_EQ(info_hash(layout, revision).bytes, crypto::sha256(as_bytes(info)).bytes);
    EXPECT_THAT(torrent_file(layout, given.layers, revision), HasSubstr("4:info" + info + "12:piece layersd32:"));
    EXPECT_THAT(info, HasSubstr("12:meta versioni2e4:name64:" + to_hex(revision) + "12:piece lengthi262144e7:privatei1ee"));
}

}  // namespace
}  // namespace shoal::model
