#include "tests/component/objectstore/conformance.hpp"

#include "common/objectstore/directory_lock.hpp"
#include "common/objectstore/directory_store.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

std::shared_ptr<std::string> temporary_directory()
{
    std::string name = testing::TempDir() + "shoal-store-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return {new std::string{name}, [](std::string* path) {
                std::filesystem::remove_all(*path);
                delete path;
            }};
}

StoreCase directory_case(const std::string& name, Naming naming)
{
    return {name, [naming] {
                const auto directory = temporary_directory();
                return TestedStore{std::make_unique<DirectoryStore>(file_url(*directory), *directory, naming), directory};
            }};
}

INSTANTIATE_TEST_SUITE_P(Directory, StoreConformance,
    testing::Values(directory_case("ByLink", Naming::by_link), directory_case("WithoutHardLinks", Naming::by_rename),
        directory_case("WithoutRenameNoReplace", Naming::by_lock)),
    store_case_name);

class DirectoryStoreTest : public testing::Test {
protected:
    void SetUp() override
    {
        root = *directory;
        auto opened = open_store("file://" + *directory);
        ASSERT_TRUE(opened) << opened.error().text();
        store = std::move(opened).value();
    }
    [[nodiscard]] std::vector<std::string> names(const std::string& below) const
    {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator{root / below}) found.push_back(entry.path().filename());
        return found;
    }
    void write(const std::string& path, std::string_view content) const
    {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream{root / path} << content;
    }
    std::shared_ptr<std::string> directory = temporary_directory();
    files::Path root;
    std::unique_ptr<ObjectStore> store;
};

TEST_F(DirectoryStoreTest, OpensOnlyWhatIsThere)
{
    const auto missing = open_store("file://" + *directory + "/nothing");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::not_found);
    EXPECT_NE(missing.error().message.find("/nothing"), std::string::npos);
    write("file", "x");
    EXPECT_EQ(open_store("file://" + *directory + "/file").error().code, Errc::not_found);
    for (const char* url : {"", "file:", "file://", "file://relative/path", "http://host/", "/plain/path"})
        EXPECT_EQ(open_store(url).error().code, Errc::invalid) << url;
}

TEST_F(DirectoryStoreTest, TheUrlOfAnOddDirectoryLeadsBackToIt)
{
    for (const std::string name : {"with space", "100%", "a%20b", "#x?y", "\xC3\xBC"}) {
        write(name + "/key", name);
        const auto odd = open_store(file_url(*directory + "/" + name));
        ASSERT_TRUE(odd) << odd.error().text();
        EXPECT_EQ(odd.value()->get("key", 100).value().content, name);
    }
    EXPECT_EQ(open_store("file://" + *directory + "/with%20space/").value()->get("key", 100).value().content, "with space");
}

TEST_F(DirectoryStoreTest, C83_KeysThatLeaveTheRootOrHaveNoPathAreRefusedByName)
{
    const std::vector<std::string> refused{
        "", "/abs", "a//b", "a/./b", "../x", "a/../../x", "a/", ".", "..", "a/.shoal-tmp-00", ".shoal-lock", std::string(1, '\0'), std::string(256, 'x')};
    for (const std::string& key : refused) {
        const auto put = store->put(key, "x", Condition::always());
        ASSERT_FALSE(put) << key;
        EXPECT_EQ(put.error().code, Errc::invalid);
        EXPECT_NE(put.error().message.find("key"), std::string::npos);
        EXPECT_EQ(store->get(key, 10).error().code, Errc::invalid);
        EXPECT_EQ(store->remove(key).error().code, Errc::invalid);
    }
    EXPECT_EQ(store->list("../", "", 10).error().code, Errc::invalid);
    EXPECT_TRUE(names("").empty());
}

TEST_F(DirectoryStoreTest, C83_AKeyBelowAnotherKeyIsAnErrorAndLosesNothing)
{
    ASSERT_TRUE(store->put("m/out", "kept", Condition::always()));
    EXPECT_FALSE(store->put("m/out/x", "lost", Condition::always()));
    EXPECT_FALSE(store->put("m", "lost", Condition::always()));
    EXPECT_EQ(store->get("m/out", 10).value().content, "kept");
}

TEST_F(DirectoryStoreTest, C33_AFileThatIsCutOrReplacedWhileItIsReadIsCaught)
{
    write("weights.bin", std::string(100'000, 'a'));
    const Version version = store->head("weights.bin").value().version;
    std::string out(50'000, '?');
    ASSERT_TRUE(store->get_range("weights.bin", 50'000, std::as_writable_bytes(std::span{out}), version));
    std::filesystem::resize_file(root / "weights.bin", 60'000);
    EXPECT_EQ(store->get_range("weights.bin", 50'000, std::as_writable_bytes(std::span{out})).error().code, Errc::integrity);
    EXPECT_EQ(store->get_range("weights.bin", 50'000, std::as_writable_bytes(std::span{out}), version).error().code, Errc::changed);
    write("other.bin", std::string(100'000, 'b'));
    std::filesystem::rename(root / "other.bin", root / "weights.bin");
    EXPECT_EQ(store->get_range("weights.bin", 0, std::as_writable_bytes(std::span{out}), version).error().code, Errc::changed);
}

TEST_F(DirectoryStoreTest, WhatWritersLeftIsHiddenAndGoesAnHourLater)
{
    write("blobs/ab/.shoal-tmp-0011223344556677", "dead writer's");
    write("blobs/ab/.shoal-tmp-8899aabbccddeeff", "live writer's");
    EXPECT_TRUE(store->list("", "", 10).value().objects.empty());
    const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours{2};
    std::filesystem::last_write_time(root / "blobs/ab/.shoal-tmp-0011223344556677", old);
    ASSERT_TRUE(store->put("blobs/ab/key", "x", Condition::absent()));
    auto left = names("blobs/ab");
    std::sort(left.begin(), left.end());
    EXPECT_EQ(left, (std::vector<std::string>{".shoal-tmp-8899aabbccddeeff", "key"}));
}

TEST_F(DirectoryStoreTest, AListingOfModelsDoesNotLookIntoBlobs)
{
    ASSERT_TRUE(store->put("models/m/tags/prod", "x", Condition::always()));
    // A directory that cannot be listed as one: looking at it would fail.
    std::filesystem::create_directories(root / "blobs");
    std::filesystem::create_symlink("loop", root / "blobs" / "loop");
    ASSERT_EQ(::chmod((root / "blobs").c_str(), 0), 0);
    const auto page = store->list("models/", "", 10);
    ASSERT_TRUE(page);
    EXPECT_EQ(page.value().objects.size(), 1U);
    ASSERT_EQ(::chmod((root / "blobs").c_str(), 0755), 0);
}

// What `act` returns when run by an ordinary user.
bool as_user(const std::function<bool()>& act)
{
    if (::geteuid() != 0) return act();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0 && act() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(DirectoryStoreTest, AReadOnlyStoreIsNotAllowedAndNamed)
{
    write("models/m/tags/prod", "kept");
    ASSERT_EQ(::chmod(root.c_str(), 0555), 0);
    ASSERT_EQ(::chmod((root / "models/m/tags").c_str(), 0555), 0);
    const auto refused = [&](const Error& error) { return error.code == Errc::not_allowed && error.message.find(store->url()) != std::string::npos; };
    EXPECT_TRUE(as_user([&] { return refused(store->put("new/key", "x", Condition::absent()).error()); }));
    EXPECT_TRUE(as_user([&] { return refused(store->put("models/m/tags/prod", "x", Condition::always()).error()); }));
    EXPECT_TRUE(as_user([&] { return refused(store->upload("blobs/aa/x", 1).error()); }));
    EXPECT_TRUE(as_user([&] { return refused(store->remove("models/m/tags/prod").error()); }));
    EXPECT_TRUE(as_user([&] { return store->get("models/m/tags/prod", 10).value().content == "kept"; }));
    ASSERT_EQ(::chmod(root.c_str(), 0755), 0);
    ASSERT_EQ(::chmod((root / "models/m/tags").c_str(), 0755), 0);
}

TEST_F(DirectoryStoreTest, C84_ObjectsAreReadableByAnyUserWhateverTheUmask)
{
    const mode_t before = ::umask(077);
    ASSERT_TRUE(store->put("models/m/tags/prod", "content", Condition::always()));
    ::umask(before);
    ASSERT_EQ(::chmod(root.c_str(), 0755), 0);
    EXPECT_TRUE(as_user([&] { return store->get("models/m/tags/prod", 10).value().content == "content"; }));
}

TEST_F(DirectoryStoreTest, AStoreThatIsAwayIsNotTakenForAnEmptyOne_AndNotMadeAnew)
{
    ASSERT_TRUE(store->put("models/m/tags/prod", "x", Condition::always()));
    auto begun = store->upload("blobs/aa/x", 1);
    ASSERT_TRUE(begun);
    std::filesystem::rename(root, root.string() + "-away");
    std::byte out{};
    const auto error_of = [](const auto& result) { return result ? Error{} : result.error(); };
    const std::vector<Error> errors{error_of(store->head("models/m/tags/prod")), error_of(store->get("nothing", 10)),
        error_of(store->get_range("blobs/aa/x", 0, MutableBytes{&out, 1})), error_of(store->list("models/", "", 10)), error_of(store->remove("nothing")),
        error_of(store->put("new/key", "x", Condition::absent())), error_of(store->put("new/key", "x", Condition::always())),
        error_of(store->upload("blobs/aa/y", 1)), begun.value()->write(ConstBytes{&out, 1}) ? error_of(begun.value()->commit()) : Error{}};
    for (const Error& error : errors) {
        EXPECT_EQ(error.code, Errc::io) << error.text();
        EXPECT_EQ(error.message, "store is gone: " + store->url() + ": there is no such directory");
        EXPECT_NE(error.hint, "");
    }
    EXPECT_FALSE(std::filesystem::exists(root));
    std::filesystem::rename(root.string() + "-away", root);
    EXPECT_EQ(store->get("nothing", 10).error().code, Errc::not_found);
    EXPECT_TRUE(store->list("nothing/", "", 10));
}

// The limit on a file's size, for the length of a scope: what is written beyond fails as on a full disk.
struct SmallFiles {
    SmallFiles()
    {
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before); }
    rlimit before{};
};

TEST_F(DirectoryStoreTest, AWriteThatFailsNamesKeyAndPlace_AndLeavesNothingBehind)
{
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_TRUE(store->put("d/there", "kept", Condition::always()));
    const std::string large(5000, 'x');
    std::vector<Error> errors;
    {
        const SmallFiles limited;
        for (const Condition& condition : {Condition::absent(), Condition::always()}) errors.push_back(store->put("d/new", large, condition).error());
        auto upload = store->upload("d/new", large.size());
        errors.push_back(upload ? upload.value()->write(as_bytes(large)).error() : upload.error());
    }
    for (const Error& error : errors) {
        EXPECT_EQ(error.code, Errc::no_space) << error.text();
        for (const std::string& word : {store->url() + " key 'd/new'", (root / "d/new").string(), std::string{"ulimit -f"}})
            EXPECT_NE(error.message.find(word), std::string::npos) << error.message;
        EXPECT_EQ(error.message.find(".shoal-tmp"), std::string::npos) << error.message;
    }
    EXPECT_EQ(names("d"), std::vector<std::string>{"there"});
}

TEST_F(DirectoryStoreTest, ANameThatCannotBeGivenIsToldByKeyAndFinalPlace)
{
    std::filesystem::create_directories(root / "d/taken/inside");
    const auto put = store->put("d/taken", "x", Condition::always());
    ASSERT_FALSE(put);
    EXPECT_NE(put.error().message.find("key 'd/taken'"), std::string::npos) << put.error().message;
    EXPECT_EQ(put.error().message.find(".shoal-tmp"), std::string::npos) << put.error().message;
    EXPECT_EQ(names("d"), std::vector<std::string>{"taken"});
    ASSERT_EQ(::chmod(root.c_str(), 0755), 0);
    ASSERT_EQ(::chmod((root / "d").c_str(), 0555), 0);
    EXPECT_TRUE(as_user([&] {
        const Error error = store->put("d/new", "x", Condition::absent()).error();
        return error.message.find((root / "d/new").string()) != std::string::npos && error.message.find(".shoal-tmp") == std::string::npos;
    }));
    ASSERT_EQ(::chmod((root / "d").c_str(), 0755), 0);
}

TEST_F(DirectoryStoreTest, ALockThatIsTakenAwayAgainAndAgainIsGivenUpByName)
{
    int looks = 0;
    int acts = 0;
    const auto steal = [&]() -> Result<void> {
        if (++looks <= 20) std::filesystem::remove(root / ".shoal-lock");
        return success();
    };
    const auto act = [&]() -> Result<void> {
        ++acts;
        return success();
    };
    const auto done = under_lock(root, steal, act);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::timed_out);
    EXPECT_NE(done.error().message.find((root / ".shoal-lock").string()), std::string::npos);
    EXPECT_EQ(looks, 8);
    EXPECT_EQ(acts, 0);
    looks = 18;
    EXPECT_TRUE(under_lock(root, steal, act));
    EXPECT_EQ(acts, 1);
}

TEST_F(DirectoryStoreTest, ALockOfTheDeadIsTakenOver)
{
    write(".shoal-lock", "");
    const auto lock = DirectoryLock::acquire(root, std::chrono::seconds{5}, std::chrono::milliseconds{20});
    ASSERT_TRUE(lock);
    EXPECT_TRUE(lock.value().still_held());
}

TEST_F(DirectoryStoreTest, ALockOfTheLivingIsWaitedForAndNamed)
{
    const auto held = DirectoryLock::acquire(root);
    ASSERT_TRUE(held);
    const auto second = DirectoryLock::acquire(root, std::chrono::milliseconds{20}, std::chrono::seconds{10});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::timed_out);
    EXPECT_NE(second.error().message.find((root / ".shoal-lock").string()), std::string::npos);
}

TEST_F(DirectoryStoreTest, AHolderSeesThatItsLockWasTaken)
{
    const auto held = DirectoryLock::acquire(root);
    std::filesystem::remove(root / ".shoal-lock");
    EXPECT_FALSE(held.value().still_held());
    const auto next = DirectoryLock::acquire(root);
    EXPECT_FALSE(held.value().still_held());
    EXPECT_TRUE(next.value().still_held());
}

TEST_F(DirectoryStoreTest, LocksAreLetGo)
{
    ASSERT_TRUE(store->put("record", "1", Condition::always()));
    ASSERT_TRUE(store->put("record", "2", Condition::always()));
    EXPECT_EQ(names(""), std::vector<std::string>{"record"});
}

TEST_F(DirectoryStoreTest, NoConditionalPutIsLostBetweenProcesses)
{
    ASSERT_TRUE(store->put("counter", "0", Condition::always()));
    std::vector<pid_t> children;
    for (int i = 0; i < 3; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (int done = 0; done < 20;) {
                const auto now = store->get("counter", 100);
                if (!now) ::_exit(1);
                if (store->put("counter", std::to_string(std::stoi(now.value().content) + 1), Condition::is(now.value().version))) ++done;
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
    EXPECT_EQ(store->get("counter", 100).value().content, "60");
}

}  // namespace
}  // namespace shoal::objectstore
