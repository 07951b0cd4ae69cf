// The publish, verify, ls, tag and remove commands against a directory store, in this process.
#include "seeder/catalog_commands.hpp"
#include "seeder/content_hashing.hpp"
#include "seeder/publish.hpp"
#include "seeder/remove.hpp"
#include "seeder/verify.hpp"

#include "common/core/random.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace shoal::seeder {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string bytes_of(std::size_t size, unsigned seed)
{
    std::string bytes(size, '\0');
    Random random{seed};
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

class Publishing : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "shoal-publish-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = fs::canonical(name);
        fs::create_directories(root / "store");
        fs::create_directories(root / "src");
        options.source = (root / "src").string();
        options.store = "file://" + (root / "store").string();
        options.model = "m";
        options.threads = 2;
    }
    void TearDown() override { fs::remove_all(root); }

    void write(const std::string& path, std::string_view content, const std::string& below = "src") const
    {
        fs::create_directories((root / below / path).parent_path());
        std::ofstream{root / below / path, std::ios::binary} << content;
    }
    // What the command printed on stdout, or "error <code>: <message>".
    template <typename Command>
    static std::string printed(Command command)
    {
        testing::internal::CaptureStdout();
        const Result<void> done = command();
        const std::string out = testing::internal::GetCapturedStdout();
        return done ? out : "error " + std::to_string(static_cast<int>(done.error().code)) + ": " + done.error().text();
    }
    [[nodiscard]] std::string publish_now() const
    {
        return printed([this] { return publish(options, stop); });
    }
    // Publishes, and returns "sha256:…".
    [[nodiscard]] std::string published() const
    {
        std::string out = publish_now();
        EXPECT_THAT(out, testing::MatchesRegex("sha256:[0-9a-f]+\n"));
        out.pop_back();
        return out;
    }
    [[nodiscard]] std::string verified(const std::string& revision, const std::string& model = "m") const
    {
        VerifyOptions verification;
        verification.store = options.store;
        verification.model = model;
        verification.revision = revision;
        verification.threads = 2;
        return printed([&] { return verify(verification, stop); });
    }
    [[nodiscard]] std::string removed(const std::string& revision, const std::string& model = "m") const
    {
        return printed([&] { return remove({options.store, model, revision, {}, Ask::nobody, Dry::no, Output::text}, stop); });
    }
    // Every file below the store with its inode and time: what a write would change.
    [[nodiscard]] std::map<std::string, std::pair<std::uint64_t, std::int64_t>> store_state() const
    {
        std::map<std::string, std::pair<std::uint64_t, std::int64_t>> state;
        for (const auto& entry : fs::recursive_directory_iterator{root / "store"}) {
            const auto facts = files::state_of(entry.path()).value();
            state[entry.path().string()] = {facts.inode, entry.is_directory() ? 0 : facts.mtime_ns};
        }
        return state;
    }
    [[nodiscard]] std::size_t objects(const std::string& below) const
    {
        std::size_t count = 0;
        if (!fs::exists(root / "store" / below)) return 0;
        for (const auto& entry : fs::recursive_directory_iterator{root / "store" / below}) count += entry.is_regular_file() ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::vector<std::string> paths(const std::string& revision) const
    {
        const auto store = objectstore::open_store(options.store);
        const auto loaded = objectstore::load_manifest(*store.value(), parse_revision(revision).value());
        std::vector<std::string> found;
        for (const model::File& file : loaded.value().manifest.files) found.push_back(file.path);
        return found;
    }
    fs::path root;
    PublishOptions options;
    Stop stop;
};

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

TEST_F(Publishing, VerifyNamesEveryDamagedFileWithExpectedAndFound)
{
    write("a", bytes_of(300'000, 1));
    write("b", bytes_of(300'000, 2));
    write("c", bytes_of(300'000, 3));
    const std::string revision = published();
    const auto store = objectstore::open_store(options.store);
    const auto manifest = objectstore::load_manifest(*store.value(), parse_revision(revision).value()).value().manifest;
    const auto place = [&](std::size_t file) { return root / "store" / objectstore::blob_key(manifest.files[file].pieces_root); };
    std::fstream{place(0), std::ios::in | std::ios::out}.seekp(1000) << 'X' << 'Y';
    fs::resize_file(place(2), 1000);
    const std::string said = verified(revision);
    EXPECT_THAT(said, testing::AllOf(HasSubstr("error 6"), HasSubstr("'a'"), HasSubstr(to_hex(manifest.files[0].sha256)), HasSubstr("'c'"), HasSubstr("1000"),
                          HasSubstr(objectstore::blob_key(manifest.files[2].pieces_root)), Not(HasSubstr("'b'"))));
    EXPECT_THAT(publish_now(), HasSubstr("sha256:"));  // a blob of a wrong size is put right; one of the right size is trusted
    EXPECT_THAT(verified(revision), testing::AllOf(HasSubstr("'a'"), Not(HasSubstr("'c'"))));
}

TEST_F(Publishing, VerifyNamesADamagedFileOfAPack)
{
    for (int i = 0; i < 300; ++i) write(std::to_string(i), bytes_of(1000, static_cast<unsigned>(i)));
    const std::string revision = published();
    for (const auto& entry : fs::recursive_directory_iterator{root / "store" / "blobs"})
        if (entry.is_regular_file()) std::fstream{entry.path(), std::ios::in | std::ios::out}.seekp(0) << "damaged";
    EXPECT_THAT(verified(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr("'0'"), Not(HasSubstr("'1'"))));
}

TEST_F(Publishing, VerifySeesChangedManifestsAndLayers)
{
    write("a", bytes_of(600'000, 1));
    const std::string revision = published();
    const RevisionId id = parse_revision(revision).value();
    const auto append = [&](const std::string& key) { std::ofstream{root / "store" / key, std::ios::app} << "x"; };
    append(objectstore::layers_key(id));
    EXPECT_THAT(verified(revision), HasSubstr("error 6"));
    append(objectstore::manifest_key(id));
    EXPECT_THAT(verified(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr(objectstore::manifest_key(id))));
    EXPECT_THAT(publish_now(), HasSubstr("sha256:"));
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
}

TEST_F(Publishing, C14_AFileThatChangedInPlaceIsNamedByVerify)
{
    write("a", bytes_of(300'000, 1));
    options.placement = Placement::in_place;
    const std::string revision = published();
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
    write("a", bytes_of(300'000, 2));
    EXPECT_THAT(verified(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr("'a'")));
    EXPECT_THAT(verified("sha256:" + std::string(64, '0')), HasSubstr("error 3"));
}

TEST_F(Publishing, ListTagAndUntag)
{
    write("a", "x");
    options.tags = {"prod"};
    const std::string revision = published();
    const auto listed = [&](const std::string& model) { return printed([&] { return list({options.store, model, Output::text}); }); };
    EXPECT_THAT(listed(""), HasSubstr("m  " + revision + "  prod"));
    EXPECT_EQ(printed([&] { return tag({options.store, "m", "next", revision, Dry::no}); }), "m:next " + revision + "\n");
    EXPECT_THAT(listed("m"), HasSubstr("next,prod  1 files"));
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), "");
    EXPECT_THAT(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), HasSubstr("error 3"));
    EXPECT_THAT(printed([&] { return tag({options.store, "m", "x", "sha256:" + std::string(64, '0'), Dry::no}); }), HasSubstr("error 3"));
    EXPECT_THAT(printed([&] { return tag({options.store, "m", "x", "prod", Dry::no}); }), HasSubstr("error 2"));
    EXPECT_THAT(listed("nothing"), HasSubstr("error 3"));
}

TEST_F(Publishing, RemoveRefusesWhatIsTaggedOrCannotBeJudged)
{
    write("a", "x");
    options.tags = {"prod"};
    const std::string revision = published();
    EXPECT_THAT(removed(revision), testing::AllOf(HasSubstr("error 4"), HasSubstr("m:prod")));
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), "");
    options.tags.clear();
    options.model = "other";
    write("b", "y");
    const std::string other = published();
    std::ofstream{root / "store" / objectstore::manifest_key(parse_revision(other).value()), std::ios::app} << "damage";
    EXPECT_THAT(removed(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr("nothing was removed")));
    EXPECT_THAT(verified(revision), HasSubstr("verified"));
    EXPECT_THAT(removed("sha256:" + std::string(64, '0')), HasSubstr("error 3"));
}

TEST_F(Publishing, ARemovalThatWasKilledIsFinishedByTheNext)
{
    write("a", bytes_of(300'000, 1));
    const std::string revision = published();
    const RevisionId id = parse_revision(revision).value();
    fs::create_directories(root / "store" / "state" / "removals");
    fs::copy_file(root / "store" / objectstore::manifest_key(id), root / "store" / "state" / "removals" / (to_hex(id) + ".json"));
    fs::remove(root / "store" / objectstore::revision_key("m", id));
    fs::remove(root / "store" / objectstore::manifest_key(id));
    EXPECT_THAT(removed(revision), HasSubstr("removed"));
    EXPECT_EQ(objects(""), 0U);
}

TEST_F(Publishing, RemoveWithoutAnAnsweringTrackerTimesOut)
{
    write("a", "x");
    const std::string revision = published();
    const std::string said = printed([&] {
        return remove({options.store, "m", revision, {"http://127.0.0.1:1"}, Ask::trackers, Dry::no, Output::text}, stop);
    });
    EXPECT_THAT(said, testing::AllOf(HasSubstr("error 7"), HasSubstr("127.0.0.1:1"), HasSubstr("--offline --force")));
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

// Bytes in memory that do something when the read reaches a place.
class ScriptedContent final : public OpenContent {
public:
    ScriptedContent(const std::string& bytes, std::function<Result<void>(std::uint64_t)> at) : bytes_{bytes}, at_{std::move(at)} {}
    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        std::memcpy(out.data(), bytes_.data() + offset, out.size());
        return at_(offset);
    }
    void expect(std::uint64_t, std::uint64_t) override {}
    Result<void> check() override { return success(); }

private:
    const std::string& bytes_;
    std::function<Result<void>(std::uint64_t)> at_;
};

Content scripted(
    const std::string& bytes, std::function<Result<void>(std::uint64_t)> at = [](std::uint64_t) -> Result<void> { return success(); })
{
    return {bytes.size(), [&bytes, at = std::move(at)]() -> Result<std::shared_ptr<OpenContent>> {
                return std::shared_ptr<OpenContent>{std::make_shared<ScriptedContent>(bytes, at)};
            }};
}

TEST(Hashing, ManyThreadsFindWhatOneFinds)
{
    constexpr std::uint32_t piece = 256U << 10U;
    std::vector<std::string> bytes;
    for (const std::size_t size : {0U, 1U, 16'384U, 16'385U, 262'144U, 262'145U, 1'000'000U, 9'000'001U})
        bytes.push_back(bytes_of(size, static_cast<unsigned>(size)));
    std::vector<Content> contents;
    for (const std::string& one : bytes) contents.push_back(scripted(one));
    for (const unsigned threads : {1U, 2U, 5U}) {
        Crew crew{threads, [] { return true; }};
        std::vector<crypto::ContentDigest> found(bytes.size());
        ASSERT_TRUE(hash_contents(crew, contents, piece, Help::yes, [&](std::size_t i, Result<crypto::ContentDigest> digest) -> Result<void> {
            found[i] = std::move(digest).value();
            return success();
        }));
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            crypto::ContentHasher oracle{bytes[i].size(), piece};
            oracle.update(as_bytes(bytes[i]));
            EXPECT_EQ(found[i], oracle.finish()) << bytes[i].size() << " bytes by " << threads << " threads";
        }
    }
}

TEST(Hashing, AFailedReadEndsItWithThatFailure)
{
    const std::string bytes = bytes_of(3'000'000, 1);
    Crew crew{3, [] { return true; }};
    const Content bad = scripted(bytes, [](std::uint64_t offset) -> Result<void> {
        if (offset >= 2'000'000) return failure(Errc::io, "EIO");
        return success();
    });
    const auto done =
        hash_contents(crew, {bad, scripted(bytes)}, 256U << 10U, Help::yes, [](std::size_t, Result<crypto::ContentDigest> digest) -> Result<void> {
            BOOST_OUTCOME_TRY(digest);
            return success();
        });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "EIO");
}

TEST(Hashing, ATickThatSaysNoInterruptsIt)
{
    const std::string bytes = bytes_of(1'000'000, 1);
    std::atomic<bool> going{true};
    Crew crew{2, [&] { return going.load(); }};
    const Content endless = scripted(bytes, [&](std::uint64_t) -> Result<void> {
        going = false;
        while (!crew.ending()) std::this_thread::yield();
        return success();
    });
    const auto done = hash_contents(crew, {endless}, 256U << 10U, Help::yes, [](std::size_t, Result<crypto::ContentDigest> digest) -> Result<void> {
        BOOST_OUTCOME_TRY(digest);
        return success();
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::interrupted);
}

struct Change {
    const char* name;
    std::function<void(const fs::path&)> act;
};

class C01 : public Publishing, public testing::WithParamInterface<Change> {};

TEST_P(C01, AFileThatChangesWhileItIsPublishedIsCaughtAndNamed)
{
    write("weights.bin", bytes_of(600'000, 1));
    WalkOptions walk;
    SourceTree tree = walk_source(options.source, walk).value();
    const auto open = content_of(tree.files[0]).open();
    ASSERT_TRUE(open);
    std::string out(300'000, '\0');
    ASSERT_TRUE(open.value()->read(0, std::as_writable_bytes(std::span{out})));
    GetParam().act(root / "src" / "weights.bin");
    auto rest = open.value()->read(300'000, std::as_writable_bytes(std::span{out}));
    if (rest) rest = open.value()->check();
    ASSERT_FALSE(rest);
    EXPECT_EQ(rest.error().code, Errc::integrity) << rest.error().text();
    EXPECT_THAT(rest.error().message, HasSubstr("weights.bin"));
    EXPECT_FALSE(content_of(tree.files[0]).open());
}

INSTANTIATE_TEST_SUITE_P(Table, C01,
    testing::Values(Change{"Append",
                        [](const fs::path& file) {
                            std::ofstream{file, std::ios::app} << "more";
                        }},
        Change{"Cut", [](const fs::path& file) { fs::resize_file(file, 1000); }}, Change{"Gone", [](const fs::path& file) { fs::remove(file); }},
        Change{"Rewritten", [](const fs::path& file) { std::ofstream{file} << bytes_of(600'000, 2); }},
        Change{"Replaced",
            [](const fs::path& file) {
                std::ofstream{file.string() + ".new"} << bytes_of(600'000, 2);
                fs::rename(file.string() + ".new", file);
            }}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace shoal::seeder
