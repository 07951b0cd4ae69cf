// From claim to marker on a real directory, without a swarm: pieces are written as a transfer would.
#include "tests/component/peer/workspace_files.hpp"

#include "peer/content_check.hpp"

#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

namespace shoal::peer {
namespace {

TEST_F(WorkspaceFiles, AllFilesArriveWithTheirModesAndTheMarkerIsLast)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    auto workspace = prepare_workspace(all).value();
    EXPECT_EQ(missing(workspace), model.data->layout->pieces());
    transfer(model, workspace);
    EXPECT_FALSE(std::filesystem::exists(site.final("weights.bin")));
    const auto before_marker = [&](const char* step) -> Result<void> {
        EXPECT_TRUE(std::string{step} == "tidy" || !std::filesystem::exists(site.marker())) << step;
        return success();
    };
    ASSERT_TRUE(put(all, workspace, before_marker));
    expect_whole(model);
    struct stat facts {};
    ASSERT_EQ(::stat(site.final("deep/er/vocab.txt").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0644U);
    ASSERT_EQ(::stat(site.final("deep/er").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0755U);
}

TEST_F(WorkspaceFiles, ARevisionOfEmptyFilesNeedsNoPieces)
{
    const SmallModel model{{{"a", ""}, {"b/c", ""}}};
    EXPECT_EQ(fetch(model), 0U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, PacksOfSmallFilesArrive)
{
    std::map<std::string, std::string> files{{"weights.bin", random_text(600'000, 5)}};
    for (int i = 0; i < 300; ++i) files["part/" + std::to_string(i)] = random_text(static_cast<std::size_t>(i) * 20, static_cast<std::uint64_t>(i));
    const SmallModel model{files};
    ASSERT_FALSE(model.data->manifest.packs.empty());
    fetch(model);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C41_WhatWasWrittenBeforeTheEndIsKept)
{
    const SmallModel model = usual_model();
    {
        Errand all = errand(model);
        auto workspace = prepare_workspace(all).value();
        transfer(model, workspace, 3);
        all.claim->release();
    }
    EXPECT_EQ(fetch(model), model.data->layout->pieces() - 3);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C42_BytesThatNeverReachedTheDiskAreFound)
{
    const SmallModel model = usual_model();
    {
        Errand all = errand(model);
        auto workspace = prepare_workspace(all).value();
        transfer(model, workspace);
        all.claim->release();
    }
    const Path staged = site.staged(model.data->revision, FileIndex{3});
    {
        std::fstream file{staged, std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(300'000);
        file.write(std::string(5000, '\0').data(), 5000);
    }
    EXPECT_EQ(fetch(model), 1U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C82_APartialFileLongerThanTheWholeIsCutAndKept)
{
    const SmallModel model = usual_model();
    {
        Errand all = errand(model);
        auto workspace = prepare_workspace(all).value();
        transfer(model, workspace);
        all.claim->release();
    }
    for (std::uint32_t i = 0; i < 4; ++i) std::ofstream{site.staged(model.data->revision, FileIndex{i}), std::ios::app} << std::string(5000, 'x');
    EXPECT_EQ(fetch(model), 0U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, ACrashAtAnyStepOfPlacingIsFinishedByTheNextRun)
{
    const SmallModel model = usual_model();
    for (int stop = 0; stop < 10; ++stop) {
        {
            Errand all = errand(model);
            auto workspace = prepare_workspace(all).value();
            transfer(model, workspace);
            int count = 0;
            const auto crash = [&](const char*) -> Result<void> { return count++ == stop ? Result<void>{failure(Errc::internal, "crash")} : success(); };
            EXPECT_FALSE(put(all, workspace, crash)) << stop;
            all.claim->release();
        }
        Ask ask;
        ask.model = "llama";
        ask.revision = model.data->revision;
        const auto seen = survey(site, ask);
        ASSERT_TRUE(seen) << stop << ": " << seen.error().message;
        if (!seen.value().done) {
            EXPECT_EQ(fetch(model), 0U) << stop;
        }
        expect_whole(model);
        std::filesystem::remove_all(site.directory);
    }
}

TEST_F(WorkspaceFiles, AMissingFileAloneIsFetchedAgain)
{
    const SmallModel model = usual_model();
    fetch(model);
    std::filesystem::remove(site.final("deep/er/vocab.txt"));
    EXPECT_EQ(fetch(model), 1U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, AChangedFileIsMendedFromItsOwnGoodPieces)
{
    const SmallModel model = usual_model();
    fetch(model);
    std::string text = model.content.at("weights.bin");
    text[700'000] = static_cast<char>(text[700'000] ^ 1);
    write(site.final("weights.bin"), text);
    EXPECT_EQ(fetch(model), 1U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, FilesThatWereOnlyTouchedAreCheckedAndStay)
{
    const SmallModel model = usual_model();
    fetch(model);
    for (const auto& [path, text] : model.content)
        std::filesystem::last_write_time(site.final(path), std::filesystem::file_time_type::clock::now() - std::chrono::hours{5});
    const auto inode = files::state_of(site.final("weights.bin")).value().inode;
    EXPECT_EQ(fetch(model), 0U);
    EXPECT_EQ(files::state_of(site.final("weights.bin")).value().inode, inode);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C82_ADamagedMarkerCostsACheckAndNoByte)
{
    const SmallModel model = usual_model();
    fetch(model);
    write(site.marker(), "{\"schema\":");
    EXPECT_EQ(fetch(model), 0U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C54_AWholeFetchCompletesAFilteredOne)
{
    const SmallModel model = usual_model();
    EXPECT_EQ(fetch(model, [](Ask& ask) { ask.include = {"*.txt"}; }), 1U);
    EXPECT_TRUE(std::filesystem::exists(site.final("deep/er/vocab.txt")));
    EXPECT_FALSE(std::filesystem::exists(site.final("weights.bin")));
    EXPECT_EQ(fetch(model), model.data->layout->pieces() - 1);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, C55_AReplacementReusesRemovesAndKeepsOldBytesForWhoReadsThem)
{
    const SmallModel old = usual_model();
    fetch(old);
    std::string weights = old.content.at("weights.bin");
    weights[10] = static_cast<char>(weights[10] ^ 1);
    const SmallModel next{
        {{"config.json", "{\"new\":1}"}, {"deep/er/vocab.txt", old.content.at("deep/er/vocab.txt")}, {"empty/now/a/directory", "x"}, {"weights.bin", weights}}};
    std::ifstream reader{site.final("weights.bin"), std::ios::binary};
    const auto vocab = files::state_of(site.final("deep/er/vocab.txt")).value().inode;
    EXPECT_EQ(fetch(next, [](Ask& ask) { ask.replace = true; }), 3U);  // config.json, the new file, one piece of the weights
    expect_whole(next);
    EXPECT_EQ(files::state_of(site.final("deep/er/vocab.txt")).value().inode, vocab);
    const std::string still{std::istreambuf_iterator<char>(reader), {}};
    EXPECT_EQ(still == old.content.at("weights.bin"), true);
}

TEST_F(WorkspaceFiles, ACrashAtAnyStepOfAReplacementIsFinishedByTheNextRun)
{
    const SmallModel old = usual_model();
    const SmallModel next{{{"config.json", "{\"new\":1}"}, {"weights.bin", random_text(500'000, 9)}}};
    for (int stop = 0; stop < 8; ++stop) {
        fetch(old);
        const auto replacing = [](Ask& ask) { ask.replace = true; };
        {
            Errand all = errand(next);
            replacing(all.ask);
            auto workspace = prepare_workspace(all).value();
            transfer(next, workspace);
            int count = 0;
            const auto crash = [&](const char*) -> Result<void> { return count++ == stop ? Result<void>{failure(Errc::internal, "crash")} : success(); };
            EXPECT_FALSE(put(all, workspace, crash)) << stop;
            all.claim->release();
        }
        Ask ask;
        ask.model = "llama";
        ask.revision = next.data->revision;
        ask.replace = true;
        const auto seen = survey(site, ask);
        ASSERT_TRUE(seen) << seen.error().message;
        if (!seen.value().done) fetch(next, replacing);
        expect_whole(next);
        std::filesystem::remove_all(site.directory);
    }
}

TEST_F(WorkspaceFiles, ABrokenOffReplacementMayBeTakenBack)
{
    const SmallModel old = usual_model();
    const SmallModel next{{{"weights.bin", random_text(500'000, 9)}}};
    fetch(old);
    {
        Errand all = errand(next);
        all.ask.replace = true;
        ASSERT_TRUE(prepare_workspace(all));
        EXPECT_FALSE(std::filesystem::exists(site.marker()));  // taken away first
        all.claim->release();
    }
    EXPECT_EQ(fetch(old), 0U);
    expect_whole(old);
}

TEST_F(WorkspaceFiles, C47_MaxBytesBelowTheNeedIsRefusedBeforeAnythingIsStaged)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    all.max_bytes = 1'000'000;
    EXPECT_EQ(prepare_workspace(all).error().code, Errc::no_space);
    EXPECT_FALSE(std::filesystem::exists(site.data(model.data->revision)));
}

TEST_F(WorkspaceFiles, C44_WhatALostOwnerStillWroteIsFoundBeforeItCounts)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    auto workspace = prepare_workspace(all).value();
    transfer(model, workspace);
    EXPECT_TRUE(check_again(all, workspace));
    std::fstream{site.staged(model.data->revision, FileIndex{3}), std::ios::in | std::ios::out | std::ios::binary}.write("late", 4);
    EXPECT_EQ(check_again(all, workspace).error().code, Errc::changed);
}

TEST_F(WorkspaceFiles, ACheckEndsWhenItIsCancelled)
{
    const SmallModel model = usual_model();
    fetch(model);
    *cancelled = true;
    EXPECT_EQ(check_content(site, *model.data, std::vector<bool>(4, true), *cancelled).error().code, Errc::interrupted);
}

TEST_F(WorkspaceFiles, C43_AWrongByteIsNamedByFileAndRange)
{
    const SmallModel model = usual_model();
    fetch(model);
    std::fstream{site.final("weights.bin"), std::ios::in | std::ios::out | std::ios::binary}.seekp(300'000).write("?", 1);
    std::filesystem::remove(site.final("config.json"));
    const auto faults = check_content(site, *model.data, std::vector<bool>(4, true), *cancelled).value();
    ASSERT_EQ(faults.size(), 2U);
    EXPECT_EQ(faults[0].file.value, 0U);
    EXPECT_EQ(faults[1].file.value, 3U);
    EXPECT_EQ(faults[1].offset, 262'144U);
    EXPECT_EQ(faults[1].length, 262'144U);
}

TEST_F(WorkspaceFiles, WhatTheDiskDidNotTakeIsNeverMarked)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    all.page_cache = PageCache::drop;
    auto workspace = prepare_workspace(all).value();
    transfer(model, workspace);
    const auto deaf = std::make_shared<const files::File>(::open(top.c_str(), O_PATH | O_CLOEXEC));  // cannot be written out
    EXPECT_FALSE(workspace.cache->touched({deaf, "weights", 0, 1, true}));
    const auto placed = put(all, workspace);
    ASSERT_FALSE(placed);
    EXPECT_NE(placed.error().message.find("cannot write out: weights"), std::string::npos) << placed.error().message;
    EXPECT_FALSE(std::filesystem::exists(site.marker()));
    EXPECT_FALSE(std::filesystem::exists(site.intent()));
}

TEST_F(WorkspaceFiles, AWriteNeedsTheClaim)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    const auto workspace = prepare_workspace(all).value();
    auto refused = std::make_shared<FileStorage>(
        model.data->layout,
        [&](FileIndex) {
            return FilePlace{top / "x", {}, true};
        },
        [] { return Result<void>{failure(Errc::changed, "lost")}; }, workspace.cache);
    EXPECT_EQ(refused->write(PieceIndex{0}, 0, as_bytes(model.piece(0))).error().code, Errc::changed);
    EXPECT_FALSE(std::filesystem::exists(top / "x"));
}

TEST_F(WorkspaceFiles, ReadersFollowAFileToItsFinalPlace)
{
    const SmallModel model = usual_model();
    Errand all = errand(model);
    auto workspace = prepare_workspace(all).value();
    transfer(model, workspace);
    auto late = std::make_shared<FileStorage>(
        model.data->layout,
        [&](FileIndex) {
            return FilePlace{site.staged(model.data->revision, FileIndex{3}), site.final("weights.bin"), true};
        },
        [] { return Result<void>{success()}; }, workspace.cache);
    ASSERT_TRUE(put(all, workspace));
    const std::uint32_t last = model.data->layout->pieces() - 1;
    std::string bytes(model.piece(last).size(), '\0');
    ASSERT_TRUE(late->read(PieceIndex{last}, 0, std::as_writable_bytes(std::span{bytes})));
    EXPECT_EQ(bytes == model.piece(last), true);
}

TEST_F(WorkspaceFiles, AFileOfTheModelThatIsNamedLikeAMarkerIsNoOtherModel)
{
    const SmallModel model{{{"a.bin", "x"}, {"sub/.shoal.json", "{}"}}};
    fetch(model);
    std::filesystem::remove(site.final("a.bin"));
    EXPECT_EQ(fetch(model), 1U);
    expect_whole(model);
}

TEST_F(WorkspaceFiles, AnotherModelsDirectoryInsideIsNotTouched)
{
    write(site.final("chat/.shoal.json"), "{}");
    const auto refused = prepare_workspace(errand(usual_model()));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("chat"), std::string::npos);
}

}  // namespace
}  // namespace shoal::peer
