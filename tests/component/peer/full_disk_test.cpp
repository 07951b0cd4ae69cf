// A volume that is too small, or that somebody else fills.
#include "tests/component/peer/workspace_files.hpp"

#include "peer/staging.hpp"

#include <fstream>
#include <sys/mount.h>
#include <unistd.h>

namespace shoal::peer {
namespace {

// A volume of 4 MiB; skipped, and said so, where mounting is not allowed.
class SmallVolume : public WorkspaceFiles {
protected:
    void SetUp() override
    {
        WorkspaceFiles::SetUp();
        if (::mount("tmpfs", top.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "cannot mount a tmpfs here: this test needs root";
        mounted_ = true;
    }
    void TearDown() override
    {
        if (mounted_) ::umount2(top.c_str(), MNT_DETACH);
        WorkspaceFiles::TearDown();
    }
    // To the last block.
    void fill() const
    {
        std::ofstream hog{top / "hog", std::ios::binary};
        const std::string page(4096, 'x');
        while (hog.write(page.data(), 4096).flush()) continue;
        ASSERT_EQ(free_space(top).value().free.bytes, 0U);
    }

private:
    bool mounted_ = false;
};

SmallModel of_small_files(int count, std::size_t size)
{
    std::map<std::string, std::string> files;
    for (int i = 0; i < count; ++i) files["part/" + std::to_string(i)] = random_text(size, static_cast<std::uint64_t>(i));
    return SmallModel{files};
}

TEST_F(SmallVolume, C47_TooLittleSpaceIsToldBeforeTheFirstByte)
{
    const SmallModel model{{{"weights.bin", random_text(5'000'000, 3)}}};
    const auto refused = prepare_workspace(errand(model));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space);
    EXPECT_NE(refused.error().message.find(site.directory.string()), std::string::npos);
}

TEST_F(SmallVolume, C47_SmallFilesCountAsTheBlocksThatTheyTake)
{
    const SmallModel model = of_small_files(1100, 10);  // 11 000 bytes
    const auto refused = prepare_workspace(errand(model));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space);
    EXPECT_FALSE(std::filesystem::exists(site.data(model.data->revision)));
}

TEST_F(SmallVolume, C46_WhoFillsTheDiskTakesNothingFromAFetchThatHasBegun)
{
    SmallModel packed = of_small_files(300, 4000);
    packed.content["config.json"] = "{}";
    packed.content["empty"] = "";
    packed.content["weights.bin"] = random_text(600'000, 3);
    const SmallModel model{packed.content};
    ASSERT_FALSE(model.data->manifest.packs.empty());
    Errand all = errand(model);
    auto workspace = prepare_workspace(all);
    ASSERT_TRUE(workspace) << workspace.error().message;
    fill();
    transfer(model, workspace.value());
    const auto marker = put(all, workspace.value());
    ASSERT_TRUE(marker) << marker.error().message;
    expect_whole(model);
}

TEST_F(SmallVolume, C46_WhatIsReservedIsNotTakenForBytesThatCame)
{
    const SmallModel model{{{"config.json", "{}"}, {"weights.bin", random_text(600'000, 3)}}};
    {
        Errand all = errand(model);
        ASSERT_TRUE(prepare_workspace(all));
        all.claim->release();
    }
    Errand all = errand(model);
    const auto workspace = prepare_workspace(all);
    ASSERT_TRUE(workspace) << workspace.error().message;
    EXPECT_EQ(missing(workspace.value()), model.data->layout->pieces());
    EXPECT_EQ(workspace.value().reused_bytes, 0U);
    all.claim->release();
    fill();
    EXPECT_EQ(fetch(model), model.data->layout->pieces());  // and the room that a broken-off run holds is not asked for twice
    expect_whole(model);
}

TEST_F(SmallVolume, C46_AFullDiskDuringAWriteIsNoSpaceAndNamesTheFile)
{
    const SmallModel model = usual_model();
    const Path late = top / "late";  // as on a filesystem that cannot reserve
    fill();
    const auto place = [&](FileIndex) { return FilePlace{late, {}, true}; };
    FileStorage storage{model.data->layout, place, [] { return Result<void>{success()}; }, std::make_shared<PageCacheWindow>(false)};
    const auto written = storage.write(PieceIndex{model.data->layout->pieces() - 1}, 0, as_bytes(model.piece(model.data->layout->pieces() - 1)));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::no_space);
    EXPECT_NE(written.error().message.find(late.string()), std::string::npos) << written.error().message;
}

}  // namespace
}  // namespace shoal::peer
