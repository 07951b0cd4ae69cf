// Contents read and hashed by several threads, and sources that change meanwhile.
#include "common/crypto/content_hasher.hpp"
#include "seeder/content_hashing.hpp"
#include "tests/component/seeder/publishing.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <thread>

namespace shoal::seeder {
namespace {

using testing::HasSubstr;

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
    const auto open = tree.files[0].content.open();
    ASSERT_TRUE(open);
    std::string out(300'000, '\0');
    ASSERT_TRUE(open.value()->read(0, std::as_writable_bytes(std::span{out})));
    GetParam().act(root / "src" / "weights.bin");
    auto rest = open.value()->read(300'000, std::as_writable_bytes(std::span{out}));
    if (rest) rest = open.value()->check();
    ASSERT_FALSE(rest);
    EXPECT_EQ(rest.error().code, Errc::integrity) << rest.error().text();
    EXPECT_THAT(rest.error().message, HasSubstr("weights.bin"));
    EXPECT_FALSE(tree.files[0].content.open());
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
