#include "peer/file_storage.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <span>

namespace shoal::peer {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t size = 300'000;
// A regular file whose first page can be neither read nor written: nothing is mapped there.
constexpr const char* broken = "/proc/self/mem";

std::shared_ptr<const model::Layout> one_file()
{
    model::Manifest manifest;
    manifest.model = "llama";
    manifest.files.push_back({"weights.bin", size, {}, {}});
    return std::make_shared<const model::Layout>(manifest);
}

class FileStorageTest : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = testing::TempDir() + "shoal-storage-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        top = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(top); }

    // The file's bytes are at `path`.
    [[nodiscard]] FileStorage storage_at(FilePlace place)
    {
        return {one_file(), [place = std::move(place)](FileIndex) { return place; },
            [this]() -> Result<void> {
                ++asked;
                return leave;
            },
            std::make_shared<PageCacheWindow>(false)};
    }
    void put(const std::string& name, std::size_t bytes) const { std::ofstream{top / name} << std::string(bytes, 'x'); }
    [[nodiscard]] static ConstBytes bytes() { return std::as_bytes(std::span{block}); }
    [[nodiscard]] static MutableBytes room() { return std::as_writable_bytes(std::span{block}); }

    std::filesystem::path top;
    int asked = 0;
    Result<void> leave = success();
    static inline std::array<char, 16384> block{};
};

TEST_F(FileStorageTest, ADiskThatFailsIsIoAndNamesTheFile)
{
    FileStorage storage = storage_at({broken, {}, true});
    const auto read = storage.read(PieceIndex{0}, 0, room());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::io);
    EXPECT_THAT(read.error().message, testing::AllOf(HasSubstr(broken), HasSubstr("Input/output error")));
    const auto written = storage.write(PieceIndex{0}, 0, bytes());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::io);
    EXPECT_THAT(written.error().message, testing::AllOf(HasSubstr(broken), HasSubstr("Input/output error")));
}

TEST_F(FileStorageTest, AFileThatIsTooShortIsNamedWithWhatWasExpected)
{
    put("short", 20'000);
    FileStorage storage = storage_at({top / "short", {}, true});
    EXPECT_TRUE(storage.read(PieceIndex{0}, 0, room()));
    const auto read = storage.read(PieceIndex{0}, 16'384, room());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, testing::AllOf(HasSubstr((top / "short").string()), HasSubstr("32768"), HasSubstr("20000")));
}

TEST_F(FileStorageTest, WhatCannotBeOpenedIsNamed)
{
    FileStorage gone = storage_at({top / "gone", {}, true});
    const auto read = gone.read(PieceIndex{0}, 0, room());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::not_found);
    EXPECT_THAT(read.error().message, HasSubstr((top / "gone").string()));
    FileStorage below_nothing = storage_at({top / "no" / "file", {}, true});
    const auto written = below_nothing.write(PieceIndex{0}, 0, bytes());
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr((top / "no" / "file").string()));
    FileStorage device = storage_at({"/dev/full", {}, true});
    EXPECT_THAT(device.write(PieceIndex{0}, 0, bytes()).error().message, HasSubstr("/dev/full"));
}

TEST_F(FileStorageTest, EveryWriteNeedsLeaveAndWithoutItNothingIsWritten)
{
    FileStorage storage = storage_at({top / "file", {}, true});
    ASSERT_TRUE(storage.write(PieceIndex{0}, 0, bytes()));
    ASSERT_TRUE(storage.write(PieceIndex{0}, 16'384, bytes()));
    EXPECT_EQ(asked, 2);
    leave = failure(Errc::not_allowed, "the claim is lost");
    const auto refused = storage.write(PieceIndex{0}, 32'768, bytes());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "the claim is lost");
    EXPECT_EQ(std::filesystem::file_size(top / "file"), 32'768U);
}

TEST_F(FileStorageTest, WhatTheDiskDoesNotTakeLaterIsToldByTheNextWriteAndStaysTold)
{
    put("file", size);
    const auto deaf = std::make_shared<const files::File>(::open((top / "file").c_str(), O_PATH | O_CLOEXEC));  // cannot be written out
    const auto cache = std::make_shared<PageCacheWindow>(true);
    EXPECT_TRUE(cache->touched({deaf, top / "file", 0, size, false}));
    EXPECT_TRUE(cache->written_out());  // only read
    EXPECT_FALSE(cache->touched({deaf, top / "file", 0, size, true}));
    EXPECT_THAT(cache->written_out().error().message, HasSubstr((top / "file").string()));
    FileStorage storage{one_file(), [this](FileIndex) { return FilePlace{top / "other", {}, true}; }, [] { return Result<void>{success()}; }, cache};
    EXPECT_THAT(storage.write(PieceIndex{0}, 0, bytes()).error().message, HasSubstr((top / "file").string()));
    EXPECT_FALSE(cache->written_out());
}

TEST_F(FileStorageTest, AFileInItsFinalPlaceIsNeverWritten)
{
    put("final", size);
    FileStorage storage = storage_at({top / "final", {}, false});
    EXPECT_TRUE(storage.write(PieceIndex{0}, 0, bytes()));
    EXPECT_EQ(asked, 0);
    ASSERT_TRUE(storage.read(PieceIndex{0}, 0, room()));
    EXPECT_EQ(block[0], 'x');
}

TEST_F(FileStorageTest, AFileThatMovedIsReadWhereItWent)
{
    put("later", size);
    FileStorage storage = storage_at({top / "staged", top / "later", true});
    EXPECT_TRUE(storage.read(PieceIndex{0}, 0, room()));
}

}  // namespace
}  // namespace shoal::peer
