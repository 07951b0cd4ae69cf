#include "common/files/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::files {
namespace {

class Files : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "shoal-files-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    static mode_t mode_of(const Path& path)
    {
        struct stat facts {};
        EXPECT_EQ(::stat(path.c_str(), &facts), 0);
        return facts.st_mode & 07777U;
    }
    Path root;
};

// The umask for the length of a scope.
struct Umask {
    explicit Umask(mode_t mask) : before{::umask(mask)} {}
    ~Umask() { ::umask(before); }
    mode_t before;
};

TEST_F(Files, C84_ModesDoNotDependOnTheUmask)
{
    const Umask narrow{077};
    ASSERT_TRUE(open_write(root / "file", Create::must_be_new));
    ASSERT_TRUE(make_directories(root / "a" / "b"));
    ASSERT_TRUE(write_atomically(root / "a" / "record", "x"));
    EXPECT_EQ(mode_of(root / "file"), 0644U);
    EXPECT_EQ(mode_of(root / "a"), 0755U);
    EXPECT_EQ(mode_of(root / "a" / "b"), 0755U);
    EXPECT_EQ(mode_of(root / "a" / "record"), 0644U);
}

TEST_F(Files, C45_WhatIsMadeBelowASetgidDirectoryIsGroupWritable)
{
    const Umask narrow{077};
    ASSERT_EQ(::chmod(root.c_str(), 02775), 0);
    ASSERT_TRUE(make_directories(root / "a" / "b"));
    ASSERT_TRUE(open_write(root / "a" / "b" / "file", Create::must_be_new));
    EXPECT_EQ(mode_of(root / "a" / "b") & 0020U, 0020U);
    EXPECT_EQ(mode_of(root / "a" / "b" / "file"), 0664U);
}

TEST_F(Files, AReadBeyondTheEndNamesPathExpectedAndFound)
{
    std::ofstream{root / "short"} << "abc";
    const auto file = open_read(root / "short");
    ASSERT_TRUE(file);
    std::array<std::byte, 10> out{};
    const auto read = read_exactly(file.value(), root / "short", 1, out);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::io);
    EXPECT_EQ(read.error().message, "file is cut short: " + (root / "short").string() + ": expected at least 11 bytes, found 3");
}

TEST_F(Files, WhatIsNotARegularFileIsRefusedAtOnce)
{
    ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
    for (const Path& path : {root / "fifo", root}) {
        const auto file = open_read(path);
        ASSERT_FALSE(file);
        EXPECT_EQ(file.error().code, Errc::invalid);
        EXPECT_NE(file.error().message.find(path.string()), std::string::npos);
    }
}

TEST_F(Files, MissingIsNotFoundAndTakenIsExists)
{
    EXPECT_EQ(open_read(root / "nothing").error().code, Errc::not_found);
    std::ofstream{root / "there"} << "abc";
    EXPECT_EQ(open_write(root / "there", Create::must_be_new).error().code, Errc::exists);
    EXPECT_TRUE(open_write(root / "there", Create::if_missing));
}

TEST_F(Files, AnAtomicWriteReplacesTheWholeContentAndLeavesNothingElse)
{
    ASSERT_TRUE(write_atomically(root / "record", "first, and longer"));
    ASSERT_TRUE(write_atomically(root / "record", "second"));
    EXPECT_EQ(read_small(root / "record", 100).value(), "second");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{root}, {}), 1);
}

TEST_F(Files, AFailedAtomicWriteLeavesWhatWasThere)
{
    ASSERT_TRUE(make_directories(root / "record" / "inside"));
    EXPECT_FALSE(write_atomically(root / "record", "content"));
    EXPECT_TRUE(std::filesystem::exists(root / "record" / "inside"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{root}, {}), 1);
}

TEST_F(Files, AFailedAtomicWriteNamesTheFinalPlace)
{
    ASSERT_TRUE(make_directories(root / "record" / "inside"));
    for (const Path& path : {root / "record", root / "nowhere" / "record"}) {
        const auto written = write_atomically(path, "content");
        ASSERT_FALSE(written);
        EXPECT_NE(written.error().message.find(path.string() + ":"), std::string::npos) << written.error().message;
        EXPECT_EQ(written.error().message.find(".shoal-tmp"), std::string::npos) << written.error().message;
    }
}

TEST_F(Files, ALinkThatLeadsNowhereOrInACircleIsNotAllowedAsADirectory)
{
    std::filesystem::create_symlink("nowhere", root / "dangling");
    std::filesystem::create_symlink("circle", root / "circle");
    std::ofstream{root / "file"} << "x";
    for (const Path& path : {root / "dangling", root / "circle", root / "file"}) {
        const auto made = make_directories(path / "below");
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, Errc::not_allowed);
        EXPECT_NE(made.error().message.find(path.string()), std::string::npos) << made.error().message;
        EXPECT_NE(made.error().hint, "");
    }
    EXPECT_EQ(open_read(root / "circle").error().code, Errc::not_allowed);
}

TEST_F(Files, ASmallFileAboveTheLimitIsTooLarge)
{
    std::ofstream{root / "large"} << std::string(101, 'x');
    EXPECT_EQ(read_small(root / "large", 100).error().code, Errc::too_large);
    EXPECT_EQ(read_small(root / "large", 101).value().size(), 101U);
}

TEST_F(Files, AnotherFileOfTheSameNameHasAnotherState)
{
    ASSERT_TRUE(write_atomically(root / "file", "aaaa"));
    const auto before = state_of(root / "file");
    ASSERT_TRUE(write_atomically(root / "file", "bbbb"));
    EXPECT_NE(before.value(), state_of(root / "file").value());
}

}  // namespace
}  // namespace shoal::files
