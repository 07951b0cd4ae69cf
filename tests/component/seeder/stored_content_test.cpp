#include "seeder/stored_content.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

namespace shoal::seeder {
namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;

std::byte byte_at(std::uint64_t offset)
{
    return static_cast<std::byte>(offset % 251);
}

// One object behind a network: what is asked of it is kept.
class FarStore final : public objectstore::ObjectStore {
public:
    [[nodiscard]] const std::string& url() const override { return url_; }
    Result<objectstore::ObjectInfo> head(const std::string& key) override
    {
        ++heads;
        return objectstore::ObjectInfo{key, size, "v"};
    }
    Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<objectstore::Version>& expected) override
    {
        const std::lock_guard lock{mutex_};
        asked.push_back(out.size());
        if (expected && *expected != "v") return failure(Errc::changed, "object has changed: " + key);
        if (offset >= fails_from) return failure(Errc::io, "broken");
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = byte_at(offset + i);
        return success();
    }
    Result<objectstore::Object> get(const std::string& /*key*/, std::size_t /*limit*/) override { return failure(Errc::internal, "not here"); }
    Result<objectstore::Version> put(const std::string& /*key*/, std::string_view /*content*/, const objectstore::Condition& /*condition*/) override
    {
        return failure(Errc::internal, "not here");
    }
    Result<std::unique_ptr<objectstore::Upload>> upload(const std::string& /*key*/, std::uint64_t /*size*/) override
    {
        return failure(Errc::internal, "not here");
    }
    Result<objectstore::Page> list(const std::string& /*prefix*/, const std::string& /*after*/, std::size_t /*limit*/) override
    {
        return failure(Errc::internal, "not here");
    }
    Result<void> remove(const std::string& /*key*/) override { return failure(Errc::internal, "not here"); }

    std::uint64_t size = 100 * mebibyte + 3;
    std::uint64_t fails_from = ~std::uint64_t{0};
    std::vector<std::size_t> asked;
    int heads = 0;

private:
    std::string url_ = "s3://bucket";
    std::mutex mutex_;
};

// Reads all of it in runs, as hashing does; the offset of the first byte that is wrong, or the size.
Result<std::uint64_t> read_through(const Content& content)
{
    constexpr std::uint64_t run = mebibyte / 4;
    BOOST_OUTCOME_TRY(open, content.open());
    std::vector<std::byte> bytes(run);
    for (std::uint64_t at = 0; at < content.size; at += run) {
        if (at % (8 * mebibyte) == 0) open->expect(at, 16 * mebibyte);
        const MutableBytes out = MutableBytes{bytes}.first(std::min(run, content.size - at));
        BOOST_OUTCOME_TRY(open->read(at, out));
        for (std::uint64_t i = 0; i < out.size(); ++i)
            if (out[i] != byte_at(at + i)) return at + i;
    }
    return content.size;
}

TEST(FarContent, IsReadInFewLargeRangesEachByteOnce)
{
    FarStore store;
    EXPECT_EQ(read_through(content_of(store, {"key", 0, store.size, true, "v"})).value(), store.size);
    EXPECT_EQ(store.asked.size(), 13U);
    EXPECT_EQ(std::accumulate(store.asked.begin(), store.asked.end(), std::uint64_t{0}), store.size);
    EXPECT_EQ(store.heads, 0) << "its version is asked for with each range";
}

TEST(FarContent, WhatIsNotExpectedIsReadAsItIsAsked)
{
    FarStore store;
    const auto open = content_of(store, {"key", 10, 1000, false, "v"}).open();
    ASSERT_TRUE(open);
    std::vector<std::byte> out(100);
    ASSERT_TRUE(open.value()->read(50, out));
    EXPECT_EQ(out.front(), byte_at(60));
    EXPECT_EQ(store.asked, std::vector<std::size_t>{100});
}

TEST(FarContent, AFailureAheadIsToldWhereItIsRead)
{
    FarStore store;
    store.fails_from = 16 * mebibyte;
    const auto read = read_through(content_of(store, {"key", 0, store.size, true, "v"}));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::io);
    EXPECT_EQ(read_through(content_of(store, {"key", 0, 3, true, "w"})).error().code, Errc::changed);
}

TEST(FarContent, ACeilingMakesRangesSmallerAndIsKept)
{
    FarStore store;
    store.size = 3 * mebibyte;
    origin::OriginGate gate{mebibyte * 10};
    const TimePoint before = Clock::now();
    EXPECT_EQ(read_through(content_of(store, {"key", 0, store.size, true, "v"}, &gate)).value(), store.size);
    EXPECT_THAT(store.asked, testing::Each(mebibyte));
    EXPECT_GE(Clock::now() - before, std::chrono::milliseconds{190});
    gate.close();
    EXPECT_EQ(read_through(content_of(store, {"key", 0, store.size, true, "v"}, &gate)).error().code, Errc::interrupted);
}

TEST(FarContent, WithoutAVersionItsSizeIsLookedAt)
{
    FarStore store;
    EXPECT_EQ(content_of(store, {"key", 0, 5, true, {}}).open().error().code, Errc::integrity);
    EXPECT_TRUE(content_of(store, {"key", 0, 5, false, {}}).open());
}

}  // namespace
}  // namespace shoal::seeder
