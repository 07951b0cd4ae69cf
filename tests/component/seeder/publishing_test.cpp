// The publish command against a directory store, in this process.
#include "tests/component/seeder/publishing.hpp"

#include <set>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace shoal::seeder {
namespace {

using testing::HasSubstr;

TEST_F(Publishing, TheSameContentGivesTheSameRevisionAndWritesNothing)
{
    write("a.bin", bytes_of(700'000, 1));
    write("sub/b.bin", bytes_of(300'001, 2));
    write("empty", "");
    options.tags = {"prod", "latest"};
    const std::string first = published();
    const auto before = store_state();
    EXPECT_EQ(published(), first);
    EXPECT_EQ(store_state(), before);
    EXPECT_EQ(paths(first), (std::vector<std::string>{"a.bin", "empty", "sub/b.bin"}));
    EXPECT_THAT(verified(first), HasSubstr("verified m " + first));
}

TEST_F(Publishing, DryRunSaysTheRevisionAndWritesNothing)
{
    write("a.bin", bytes_of(1000, 1));
    options.dry_run = Dry::yes;
    const std::string said = published();
    EXPECT_EQ(objects(""), 0U);
    options.dry_run = Dry::no;
    EXPECT_EQ(published(), said);
}

TEST_F(Publishing, C03_HoweverTheDirectoryIsWrittenItIsTheSameRevision)
{
    write("a/b.bin", bytes_of(1000, 1));
    const std::string plain = published();
    fs::create_directory_symlink(root / "src", root / "link");
    for (const std::string& source : {(root / "src").string() + "/", (root / "src" / ".").string(), (root / "link").string(), (root / "link").string() + "/"}) {
        options.source = source;
        EXPECT_EQ(published(), plain) << source;
    }
}

TEST_F(Publishing, C04_AFileNamedLikeItsDirectoryStaysWhereItIs)
{
    write("model/checkpoints/model.ckpt", "x");
    write("src/src", "y");
    EXPECT_EQ(paths(published()), (std::vector<std::string>{"model/checkpoints/model.ckpt", "src/src"}));
}

TEST_F(Publishing, C05_ANeighbourWithTheSameBeginningIsNotTouched)
{
    write("a", "mine");
    write("a", "theirs", "src-hf");
    write("", "", "unused");
    EXPECT_EQ(paths(published()), (std::vector<std::string>{"a"}));
}

TEST_F(Publishing, OneFileIsPublishedUnderItsOwnName)
{
    write("weights.gguf", "GGUF and more");
    write("other", "not this");
    options.source = (root / "src" / "weights.gguf").string();
    EXPECT_EQ(paths(published()), (std::vector<std::string>{"weights.gguf"}));
}

TEST_F(Publishing, C06_OddNamesArriveAndWhatCannotBeStoredIsRefusedInOneMessage)
{
    const std::vector<std::string> odd{" trailing ", "#", "+", "%2F", "?", "*", "[x]", "~", "$", "'\"", "nbsp\xC2\xA0", "new\nline", "-leading", "nfc\xC3\xA9",
        "nfd-e\xCC\x81", std::string(255, 'x')};
    for (const std::string& name : odd) write(name, "content of " + name);
    const std::string revision = published();
    EXPECT_EQ(paths(revision).size(), odd.size());
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
    write("bad\xFF"
          "one",
        "x");
    write("back\\slash", "x");
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"),
                                   HasSubstr("bad\\xff"
                                             "one"),
                                   HasSubstr("back")));
}

TEST_F(Publishing, C07_NothingToPublishIsNotFound)
{
    EXPECT_THAT(publish_now(), HasSubstr("error 3"));
    write("a.bin", "x");
    options.selection.include = {"*.safetensors"};
    EXPECT_THAT(publish_now(), HasSubstr("error 3"));
    options.source = (root / "nothing").string();
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 3"), HasSubstr("nothing")));
    EXPECT_EQ(objects(""), 0U);
}

TEST_F(Publishing, FiltersIncludeFirstThenExclude)
{
    write("a.bin", "x");
    write("deep/b.bin", "x");
    write("deep/c.txt", "x");
    options.selection = {{"*.bin"}, {"deep/"}};
    EXPECT_EQ(paths(published()), (std::vector<std::string>{"a.bin"}));
}

TEST_F(Publishing, C11_LinksInsideAreFollowedAndAllElseIsRefusedByName)
{
    write("real/file", "content");
    fs::create_symlink("real/file", root / "src" / "inside");
    fs::create_directory_symlink("real", root / "src" / "directory");
    EXPECT_EQ(paths(published()), (std::vector<std::string>{"directory/file", "inside", "real/file"}));
    write("outside", "x", "elsewhere");
    fs::create_symlink("../elsewhere/outside", root / "src" / "leaves");
    fs::create_symlink("nowhere", root / "src" / "dangling");
    fs::create_symlink("self", root / "src" / "self");
    fs::create_directory_symlink("..", root / "src" / "real" / "up");
    ASSERT_EQ(::mkfifo((root / "src" / "fifo").c_str(), 0600), 0);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string place = (root / "src" / "socket").string();
    ASSERT_LT(place.size(), sizeof address.sun_path);
    place.copy(address.sun_path, place.size());
    ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(listening);
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr("'leaves'"), HasSubstr("--follow-links"), HasSubstr("'dangling'"),
                                   HasSubstr("'self'"), HasSubstr("'fifo'"), HasSubstr("'socket'"), HasSubstr("'real/up'")));
    options.selection.exclude = {"leaves", "dangling", "self", "fifo", "socket", "real/up", "directory/up"};
    EXPECT_THAT(publish_now(), HasSubstr("sha256:"));
}

TEST_F(Publishing, C11_ASnapshotOfLinksIsTheSameRevisionAsAPlainCopy)
{
    const std::string content = bytes_of(400'000, 3);
    write("blobs/abc", content, "cache");
    write("snapshots/1/config.json", "{}", "cache");
    fs::create_symlink("../../blobs/abc", root / "cache" / "snapshots" / "1" / "model.bin");
    write("model.bin", content);
    write("config.json", "{}");
    const std::string plain = published();
    options.source = (root / "cache" / "snapshots" / "1").string();
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr("--follow-links")));
    options.links = Links::follow;
    EXPECT_EQ(published(), plain);
    options.placement = Placement::in_place;
    EXPECT_EQ(published(), plain);
}

TEST_F(Publishing, WhatAFetchLeftAtTheTopIsLeftOutAndOtherSuchNamesAreRefused)
{
    write("a", "x");
    const std::string plain = published();
    write(".shoal.json", "{}");
    write(".shoal/partial/x", "y");
    EXPECT_EQ(published(), plain);
    write(".shoal-other", "z");
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr(".shoal-other")));
}

TEST_F(Publishing, ASourceThatHoldsTheStoreOrClimbsIsRefused)
{
    write("a", "x");
    options.source = root.string();
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr("inside")));
    options.source = (root / "src" / ".." / "src").string();
    EXPECT_THAT(publish_now(), HasSubstr("error 2"));
}

TEST_F(Publishing, WhatIsPartOfTheRevisionChangesIt)
{
    write("a", bytes_of(2'000'000, 1));
    std::set<std::string> revisions{published()};
    options.piece_size = 512U << 10U;
    revisions.insert(published());
    options.annotations = {{"k", "v"}};
    revisions.insert(published());
    options.data_version = "1";
    revisions.insert(published());
    options.transform_version = "1";
    revisions.insert(published());
    EXPECT_EQ(revisions.size(), 5U);
    EXPECT_EQ(objects("blobs"), 1U);
}

TEST_F(Publishing, C80_APieceSizeThatCannotBeIsRefused)
{
    write("a", "x");
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{300'000}, std::uint64_t{32} << 20U, std::uint64_t{1} << 40U}) {
        options.piece_size = size;
        EXPECT_THAT(publish_now(), HasSubstr("error 2")) << size;
    }
}

TEST_F(Publishing, C10_StrictRefusesWhatOtherwiseIsAWarning)
{
    write("model-00001.safetensors", "<!doctype html><title>404</title>");
    write("model.safetensors.index.json", R"({"weight_map":{"a":"model-00001.safetensors","b":"model-00002.safetensors"}})");
    EXPECT_THAT(publish_now(), HasSubstr("sha256:"));
    options.suspicious = Suspicious::refuse;
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr("model-00001.safetensors"), HasSubstr("model-00002.safetensors")));
}

TEST_F(Publishing, C10_AFileInAPackIsLookedAtToo)
{
    for (int i = 0; i < 300; ++i) write("part-" + std::to_string(i), "x");
    write("bad.safetensors", "<!doctype html><title>404</title>");
    options.suspicious = Suspicious::refuse;
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr("bad.safetensors")));
    EXPECT_EQ(objects(""), 0U);
    options.suspicious = Suspicious::warn;
    testing::internal::CaptureStderr();
    EXPECT_THAT(publish_now(), HasSubstr("sha256:"));
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::AllOf(HasSubstr("bad.safetensors"), testing::Not(HasSubstr("part-"))));
}

TEST_F(Publishing, AMissingStoreIsNotFoundAndNamed)
{
    write("a", "x");
    options.store = "file://" + (root / "no-store").string();
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 3"), HasSubstr("no-store")));
}

TEST_F(Publishing, C08_EqualFilesAndModelsAreStoredOnceAndRemovableOneByOne)
{
    write("a", bytes_of(300'000, 1));
    write("b", bytes_of(300'000, 1));
    const std::string first = published();
    options.model = "n";
    const std::string second = published();
    EXPECT_NE(first, second);
    EXPECT_EQ(objects("blobs"), 1U);
    EXPECT_THAT(removed(first), HasSubstr("removed"));
    EXPECT_EQ(objects("blobs"), 1U);
    EXPECT_THAT(verified(second, "n"), HasSubstr("verified"));
    EXPECT_THAT(removed(second, "n"), HasSubstr("removed"));
    EXPECT_EQ(objects(""), 0U);
}

TEST_F(Publishing, C09_EqualNamesAndSizesWithOtherBytesAreTwoRevisions)
{
    write("a", bytes_of(300'000, 1));
    const std::string first = published();
    write("a", bytes_of(300'000, 2));
    const std::string second = published();
    EXPECT_NE(first, second);
    EXPECT_THAT(verified(first), HasSubstr("verified"));
    EXPECT_THAT(verified(second), HasSubstr("verified"));
}

TEST_F(Publishing, ManySmallFilesAreOneBlob)
{
    for (int i = 0; i < 300; ++i) write("small/" + std::to_string(i), bytes_of(static_cast<std::size_t>(i) * 10, static_cast<unsigned>(i)));
    write("large.bin", bytes_of(700'000, 7));
    const std::string revision = published();
    EXPECT_EQ(objects("blobs"), 2U);
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
    options.placement = Placement::in_place;
    fs::remove_all(root / "store");
    fs::create_directory(root / "store");
    EXPECT_EQ(published(), revision);
    EXPECT_EQ(objects("blobs"), 0U);
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
}

TEST_F(Publishing, C02_WhatIsInTheStoreIsNotUploadedAgain)
{
    write("a", bytes_of(300'000, 1));
    write("b", bytes_of(300'000, 2));
    const std::string revision = published();
    const auto before = store_state();
    // As after a kill before the names: blobs are there, one of them still lacks.
    for (const char* gone : {"manifests", "layers", "locations", "models"}) fs::remove_all(root / "store" / gone);
    const auto store = objectstore::open_store(options.store);
    std::string kept;
    for (const auto& entry : fs::recursive_directory_iterator{root / "store" / "blobs"})
        if (entry.is_regular_file()) kept = entry.path();
    for (const auto& entry : fs::recursive_directory_iterator{root / "store" / "blobs"})
        if (entry.is_regular_file() && entry.path() != kept) fs::remove(entry.path());
    EXPECT_EQ(published(), revision);
    EXPECT_EQ(store_state().at(kept), before.at(kept));
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
}

TEST_F(Publishing, C85_MoreFilesThanAllowedAreRefusedWithTheLimit)
{
    fs::create_directories(root / "src");
    for (std::size_t i = 0; i <= model::max_files; ++i)
        fs::create_hard_link(
            [&] {
                static const fs::path one = [&] {
                    write("one", "x", "aside");
                    return root / "aside" / "one";
                }();
                return one;
            }(),
            root / "src" / std::to_string(i));
    EXPECT_THAT(publish_now(), testing::AllOf(HasSubstr("error 2"), HasSubstr(std::to_string(model::max_files))));
}

}  // namespace
}  // namespace shoal::seeder
