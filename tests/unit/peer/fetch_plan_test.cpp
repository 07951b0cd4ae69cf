#include "peer/fetch_plan.hpp"

#include <gtest/gtest.h>

namespace shoal::peer {
namespace {

// Two ordinary files of 3 and 1 pieces, an empty one, and 300 small files in one pack.
model::Manifest sample()
{
    model::Manifest manifest;
    manifest.model = "llama";
    const auto add = [&](const std::string& path, std::uint64_t size) {
        model::File file{path, size, {}, {}};
        if (size > 0) file.pieces_root.bytes.fill(1);
        manifest.files.push_back(file);
    };
    add("a.bin", 2 * model::min_piece_size + 5);
    add("b.bin", model::min_piece_size);
    add("empty", 0);
    model::Pack pack;
    for (int i = 0; i < 300; ++i) {
        add("s" + std::to_string(1000 + i), 4000);
        pack.files.push_back(FileIndex{static_cast<std::uint32_t>(3 + i)});
        pack.size += 4000;
    }
    pack.pieces_root.bytes.fill(2);
    manifest.packs.push_back(pack);
    return manifest;
}

class Plan : public ::testing::Test {
protected:
    FetchPlan plan(std::vector<std::uint32_t> wanted, std::vector<std::uint32_t> kept) const
    {
        std::vector<bool> want(manifest.files.size(), wanted.empty());
        std::vector<bool> keep(manifest.files.size());
        for (const auto file : wanted) want[file] = true;
        for (const auto file : kept) keep[file] = true;
        return make_plan(manifest, layout, want, keep);
    }
    static std::size_t count(const std::vector<bool>& flags) { return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true)); }

    model::Manifest manifest = sample();
    model::Layout layout{manifest};
};

TEST_F(Plan, AWholeFetchNeedsEveryPieceAndStagesEveryFile)
{
    const FetchPlan all = plan({}, {});
    EXPECT_EQ(count(all.needed), layout.pieces());
    EXPECT_EQ(all.staged.size(), manifest.files.size());
    EXPECT_EQ(all.wanted_bytes, manifest.bytes());
    std::uint64_t bytes = 0;
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) bytes += wanted_bytes_of(all, layout, PieceIndex{piece});
    EXPECT_EQ(bytes, manifest.bytes());
}

TEST_F(Plan, KeptFilesNeedNothing)
{
    const FetchPlan rest = plan({}, {0, 2});
    const auto [first, last] = layout.pieces_of(FileIndex{0});
    for (std::uint32_t piece = first; piece < last; ++piece) {
        EXPECT_FALSE(rest.needed[piece]);
        EXPECT_TRUE(rest.in_place[piece]);
        EXPECT_EQ(wanted_bytes_of(rest, layout, PieceIndex{piece}), 0U);
    }
    EXPECT_EQ(rest.kept_bytes, manifest.files[0].size);
    EXPECT_EQ(rest.staged.size(), manifest.files.size() - 2);
}

TEST_F(Plan, C54_ASmallFileBringsItsNeighboursInThePackAndCountsOnlyItself)
{
    const FetchPlan one = plan({3}, {});
    EXPECT_EQ(count(one.needed), 1U);
    EXPECT_EQ(one.staged.size(), model::min_piece_size / 4000 + 1);
    EXPECT_EQ(one.wanted_bytes, 4000U);
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece)
        if (one.needed[piece]) {
            EXPECT_EQ(wanted_bytes_of(one, layout, PieceIndex{piece}), 4000U);
        }
}

TEST_F(Plan, AKeptNeighbourInThePackIsNotStaged)
{
    const FetchPlan one = plan({3}, {4});
    for (const FileIndex file : one.staged) EXPECT_NE(file.value, 4U);
}

TEST_F(Plan, AnEmptyFileIsStagedAndNeedsNoPiece)
{
    const FetchPlan one = plan({2}, {});
    EXPECT_EQ(count(one.needed), 0U);
    ASSERT_EQ(one.staged.size(), 1U);
    EXPECT_EQ(one.staged[0].value, 2U);
}

}  // namespace
}  // namespace shoal::peer
