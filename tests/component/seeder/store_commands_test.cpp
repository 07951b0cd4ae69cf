// The verify, ls, tag, untag and remove commands against a directory store, in this process.
#include "common/objectstore/keys.hpp"
#include "seeder/catalog_commands.hpp"
#include "seeder/store_writes.hpp"
#include "tests/component/seeder/publishing.hpp"

#include <future>
#include <thread>

namespace shoal::seeder {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "prod", "", Dry::yes}); }), "would remove m:prod\n");
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), "removed m:prod\n");
    EXPECT_THAT(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), HasSubstr("error 3"));
    EXPECT_THAT(printed([&] { return tag({options.store, "m", "x", "sha256:" + std::string(64, '0'), Dry::no}); }), HasSubstr("error 3"));
    EXPECT_THAT(printed([&] { return tag({options.store, "m", "x", "prod", Dry::no}); }), HasSubstr("error 2"));
    EXPECT_THAT(listed("nothing"), HasSubstr("error 3"));
}

TEST_F(Publishing, OneDamagedRecordHidesNothingElseOfAListing)
{
    write("a", "x");
    options.tags = {"bad", "good", "huge"};
    const std::string revision = published();
    options.model = "other";
    options.tags.clear();
    const std::string other = published();
    write("models/m/tags/bad", "garbage", "store");
    write("models/m/tags/huge", std::string(5000, ' '), "store");
    write("models/m/revisions/stray", "", "store");
    std::string out;
    const auto listed = [&](const std::string& model) {
        testing::internal::CaptureStdout();
        const auto done = list({options.store, model, Output::text});
        out = testing::internal::GetCapturedStdout();
        return done;
    };
    for (const char* model : {"", "m"}) {
        const auto done = listed(model);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, Errc::integrity);
        EXPECT_THAT(done.error().message, testing::AllOf(HasSubstr("models/m/revisions/stray"), HasSubstr("expected"), HasSubstr("2 more")));
        EXPECT_NE(done.error().hint, "");
        EXPECT_THAT(out, HasSubstr("m  " + revision + "  good"));
    }
    EXPECT_FALSE(listed(""));
    EXPECT_THAT(out, HasSubstr("other  " + other));
    EXPECT_THAT(removed(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr("models/m/tags/bad"), HasSubstr("found 7 bytes 'garbage'")));
    EXPECT_EQ(printed([&] { return tag({options.store, "m", "bad", revision, Dry::no}); }), "m:bad " + revision + "\n");
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "huge", "", Dry::no}); }), "removed m:huge\n");
    fs::remove(root / "store/models/m/revisions/stray");
    EXPECT_TRUE(listed(""));
}

TEST_F(Publishing, WhateverIsDamagedIsAnIntegrityErrorThatNamesTheKey_AndPublishPutsItRight)
{
    write("a", bytes_of(600'000, 1));
    const std::string revision = published();
    const RevisionId id = parse_revision(revision).value();
    for (const std::string& key : {objectstore::location_key(id), objectstore::manifest_key(id), objectstore::layers_key(id)}) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{20} << 20U, std::size_t{70} << 20U}) {
            std::ofstream{root / "store" / key, std::ios::trunc} << std::string(size, 'g');
            EXPECT_THAT(verified(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr(key), HasSubstr("expected"), HasSubstr("found"))) << size;
        }
        EXPECT_EQ(published(), revision);
        EXPECT_THAT(verified(revision), HasSubstr("verified"));
    }
}

TEST_F(Publishing, RemoveRefusesWhatIsTaggedOrCannotBeJudged)
{
    write("a", "x");
    options.tags = {"prod"};
    const std::string revision = published();
    EXPECT_THAT(removed(revision), testing::AllOf(HasSubstr("error 4"), HasSubstr("m:prod")));
    EXPECT_EQ(printed([&] { return untag({options.store, "m", "prod", "", Dry::no}); }), "removed m:prod\n");
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

// A removal of equal content that began before our names were written, and takes the blobs after that.
TEST_F(Publishing, APublishBesideARemovalEndsWithAllOfItsBlobs)
{
    write("a", bytes_of(300'000, 1));
    const RevisionId going = parse_revision(published()).value();
    const auto note = root / "store" / objectstore::removal_key(going);
    fs::create_directories(note.parent_path());
    fs::copy_file(root / "store" / objectstore::manifest_key(going), note);
    options.model = "other";
    std::promise<void> ended;
    std::thread removal{[&, over = ended.get_future()] {
        (void)over.wait_for(std::chrono::milliseconds{300});  // a publish that does not wait ends before the blobs go
        fs::remove_all(root / "store" / "blobs");
        fs::remove(note);
    }};
    const std::string revision = published();
    ended.set_value();
    removal.join();
    EXPECT_THAT(verified(revision, "other"), HasSubstr("verified"));
}

TEST_F(Publishing, ARevisionThatIsRemovedWhileItIsPublishedIsThereInTheEnd)
{
    write("a", bytes_of(300'000, 1));
    const RevisionId id = parse_revision(published()).value();
    for (const Placement placement : {Placement::copy, Placement::in_place}) {
        options.placement = placement;
        const auto note = root / "store" / objectstore::removal_key(id);
        fs::create_directories(note.parent_path());
        fs::copy_file(root / "store" / objectstore::manifest_key(id), note);
        std::promise<void> ended;
        std::thread removal{[&, over = ended.get_future()] {
            (void)over.wait_for(std::chrono::milliseconds{300});
            for (const char* all : {"blobs", "models", "manifests", "locations", "layers"}) fs::remove_all(root / "store" / all);
            fs::remove(note);
        }};
        EXPECT_THAT(publish_now(), HasSubstr(to_string(id)));
        ended.set_value();
        removal.join();
        EXPECT_THAT(verified(to_string(id)), HasSubstr("verified"));
    }
}

TEST_F(Publishing, ARemovalThatWasBrokenOffIsNotWaitedForForEver_AndOthersAreNotWaitedForAtAll)
{
    write("a", bytes_of(300'000, 1));
    const std::string revision = published();
    const RevisionId id = parse_revision(revision).value();
    const auto store = objectstore::open_store(options.store);
    const auto manifest = objectstore::load_manifest(*store.value(), id).value();
    ASSERT_TRUE(store.value()->put(objectstore::removal_key(id), manifest.manifest_bytes, objectstore::Condition::always()));
    int asked = 0;
    const auto wait = [&](const model::Manifest& ours, std::chrono::milliseconds within, bool go_on) {
        return wait_for_removals(*store.value(), ours, within, [&, go_on] {
            ++asked;
            return go_on;
        });
    };
    EXPECT_TRUE(wait(manifest.manifest, std::chrono::milliseconds{1}, true));
    EXPECT_GT(asked, 0);
    const auto ended = wait(manifest.manifest, std::chrono::hours{1}, false);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::interrupted);
    asked = 0;
    EXPECT_TRUE(wait(model::Manifest{}, std::chrono::hours{1}, true));
    EXPECT_EQ(asked, 0);
}

TEST_F(Publishing, ARemovalThatIsRefusedLeavesNoNote)
{
    write("a", "x");
    const std::string revision = published();
    write("manifests/stray", "", "store");
    EXPECT_THAT(removed(revision), testing::AllOf(HasSubstr("error 6"), HasSubstr("manifests/stray")));
    EXPECT_EQ(objects("state"), 0U);
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

}  // namespace
}  // namespace shoal::seeder
