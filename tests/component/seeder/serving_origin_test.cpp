// OriginStorage over a real directory store: right bytes in few requests, or an error that says what is wrong where.
#include "common/origin/served_revision.hpp"
#include "seeder/metered_store.hpp"
#include "tests/component/seeder/shelf.hpp"
#include "tests/component/seeder/watched_store.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace shoal::seeder {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ServingOrigin : public testing::Test {
protected:
    ServingOrigin()
    {
        access.gate = std::make_shared<origin::OriginGate>(0);
        access.readers = std::make_shared<origin::SideBySide>(4);
        access.first_pause = std::chrono::microseconds{1};
        store = std::make_shared<WatchedStore>(objectstore::open_store(shelf.url()).value());
        source = std::make_shared<WatchedStore>(objectstore::open_store(shelf.source_url()).value());
    }

    Result<origin::ServedRevision> load(const Placed& placed)
    {
        return origin::load_revision(
            store, placed.id, [this](const std::string&) -> Result<std::shared_ptr<objectstore::ObjectStore>> { return source; }, access);
    }
    std::shared_ptr<origin::OriginStorage> storage_of(const Placed& placed)
    {
        auto loaded = load(placed);
        EXPECT_TRUE(loaded) << loaded.error().text();
        return loaded.value().storage;
    }
    // The piece's bytes, or the error's text.
    static Result<std::string> read(origin::OriginStorage& storage, const Placed& placed, std::uint32_t piece)
    {
        std::string bytes(placed.layout().place({piece}).length, '\0');
        BOOST_OUTCOME_TRY(storage.read({piece}, 0, std::as_writable_bytes(std::span{bytes})));
        return bytes;
    }
    static Error error_of(origin::OriginStorage& storage, const Placed& placed, std::uint32_t piece)
    {
        const Result<std::string> bytes = read(storage, placed, piece);
        return bytes ? Error{} : bytes.error();
    }
    static void expect_all_pieces(origin::OriginStorage& storage, const Placed& placed, const Files& files)
    {
        for (std::uint32_t piece = 0; piece < placed.layout().pieces(); ++piece) {
            const Result<std::string> bytes = read(storage, placed, piece);
            ASSERT_TRUE(bytes) << bytes.error().text();
            ASSERT_TRUE(bytes.value() == placed.piece({piece}, files)) << "piece " << piece;
        }
    }
    std::string blob(const Placed& placed, std::size_t swarm_file) { return objectstore::blob_key(placed.layout().files()[swarm_file].pieces_root); }

    Shelf shelf;
    origin::OriginAccess access;
    std::shared_ptr<WatchedStore> store;
    std::shared_ptr<WatchedStore> source;
};

Files two_files()
{
    return {{"config.json", noise(1000, 1)}, {"model/weights.bin", noise(700'000, 2)}};  // one piece, and three
}

Files many_files()
{
    Files files{{"empty", ""}, {"large.bin", noise(600'000, 3)}};
    for (int i = 0; i < 300; ++i) files["shard-" + std::to_string(1000 + i)] = noise(static_cast<std::size_t>(1 + i * 17), static_cast<std::uint32_t>(i + 10));
    return files;
}

TEST_F(ServingOrigin, GivesEveryPieceOfBlobsWithOneRequestEach)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    expect_all_pieces(*storage, placed, two_files());
    EXPECT_EQ(store->ranges, 4);
    EXPECT_EQ(storage->bytes_read(), 701'000U);
}

TEST_F(ServingOrigin, LoadingReadsNoByteOfTheModel)
{
    const Placed placed = shelf.place("llama", two_files());
    storage_of(placed);
    EXPECT_EQ(store->ranges, 0);
}

TEST_F(ServingOrigin, GivesPiecesOfPacks)
{
    const Placed placed = shelf.place("llama", many_files());
    ASSERT_FALSE(placed.manifest.packs.empty());
    expect_all_pieces(*storage_of(placed), placed, many_files());
    EXPECT_EQ(static_cast<std::uint32_t>(store->ranges), placed.layout().pieces());
}

TEST_F(ServingOrigin, PutsPacksTogetherFromFilesIndexedInPlaceWithOneRequestAFile)
{
    const Placed placed = shelf.index("llama", many_files());
    expect_all_pieces(*storage_of(placed), placed, many_files());
    std::size_t extents = 0;
    for (std::uint32_t piece = 0; piece < placed.layout().pieces(); ++piece)
        extents += placed.layout().extents({piece}, 0, placed.layout().place({piece}).length).size();
    EXPECT_EQ(static_cast<std::size_t>(source->ranges), extents);
    EXPECT_EQ(store->ranges, 0);
}

TEST_F(ServingOrigin, AFlippedByteOfABlobIsNamedAndNotGiven)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    Shelf::flip(shelf.object(blob(placed, 1)), 300'000);
    const Error error = error_of(*storage, placed, 2);
    EXPECT_EQ(error.code, Errc::integrity);
    EXPECT_THAT(error.message, AllOf(HasSubstr("llama@sha256:"), HasSubstr("model/weights.bin"), HasSubstr(blob(placed, 1)), HasSubstr("bytes 262144-524287"),
                                   HasSubstr("expected digest " + to_hex(placed.layers[2])), HasSubstr("found ")));
    EXPECT_EQ(storage->bytes_read(), 0U);
    EXPECT_TRUE(read(*storage, placed, 1));  // other pieces are as they were
}

TEST_F(ServingOrigin, BytesGarbledOnTheWayAreReadAgain)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    store->garble = [this](const std::string&, MutableBytes bytes) {
        if (store->ranges == 1) bytes[5] ^= std::byte{1};
    };
    expect_all_pieces(*storage, placed, two_files());
    EXPECT_EQ(store->ranges, 5);
}

TEST_F(ServingOrigin, C33_ACutBlobIsAnErrorThatNamesIt)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    std::filesystem::resize_file(shelf.object(blob(placed, 1)), 600'000);
    const Error error = error_of(*storage, placed, 3);
    EXPECT_EQ(error.code, Errc::integrity);
    EXPECT_THAT(error.message,
        AllOf(HasSubstr("model/weights.bin"), HasSubstr(blob(placed, 1)), HasSubstr("bytes 524288-699999"), HasSubstr("700000"), HasSubstr("600000")));
}

TEST_F(ServingOrigin, AMissingBlobIsNotFound)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    std::filesystem::remove(shelf.object(blob(placed, 0)));
    const Error error = error_of(*storage, placed, 0);
    EXPECT_EQ(error.code, Errc::not_found);
    EXPECT_THAT(error.message, AllOf(HasSubstr("config.json"), HasSubstr(blob(placed, 0))));
}

TEST_F(ServingOrigin, C14_ASourceFileReplacedByOneOfTheSameSizeIsNamed)
{
    const Placed placed = shelf.index("llama", two_files());
    const auto storage = storage_of(placed);
    ASSERT_TRUE(read(*storage, placed, 1));
    Shelf::overwrite(shelf.source("other"), noise(700'000, 9));
    std::filesystem::rename(shelf.source("other"), shelf.source("model/weights.bin"));
    const Error error = error_of(*storage, placed, 1);
    EXPECT_EQ(error.code, Errc::integrity);
    EXPECT_THAT(error.message, AllOf(HasSubstr("model/weights.bin"), HasSubstr("expected version"), HasSubstr("found")));
}

TEST_F(ServingOrigin, ASourceFileRewrittenUnderItsOldTimesIsStillFound)
{
    const Placed placed = shelf.index("llama", two_files());
    const auto storage = storage_of(placed);
    const auto time = std::filesystem::last_write_time(shelf.source("model/weights.bin"));
    Shelf::flip(shelf.source("model/weights.bin"), 10);
    std::filesystem::last_write_time(shelf.source("model/weights.bin"), time);
    const Error error = error_of(*storage, placed, 1);
    EXPECT_EQ(error.code, Errc::integrity);
    EXPECT_THAT(error.message, AllOf(HasSubstr("'model/weights.bin' bytes 0-262143"), HasSubstr("expected digest")));
}

TEST_F(ServingOrigin, TheWrongFileOfAPackIsNamed)
{
    const Placed placed = shelf.index("llama", many_files());
    const auto storage = storage_of(placed);
    source->garble = [](const std::string& key, MutableBytes bytes) {
        if (key == "shard-1077") bytes[3] ^= std::byte{1};
    };
    Error error;
    for (std::uint32_t piece = 0; piece < placed.layout().pieces(); ++piece) {
        if (const Error found = error_of(*storage, placed, piece); found.code == Errc::integrity) error = found;
    }
    EXPECT_EQ(error.code, Errc::integrity);
    EXPECT_THAT(error.message, AllOf(HasSubstr(".shoal/pack-00000"), HasSubstr("'shard-1077'"), HasSubstr("expected digest")));
}

TEST_F(ServingOrigin, FailuresThatPassAreTriedAgain)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    store->fail_next({{Errc::io, "EIO", {}}, {Errc::timed_out, "slow", {}}, {Errc::io, "EIO", {}}});
    EXPECT_TRUE(read(*storage, placed, 0));
    EXPECT_EQ(store->ranges, 4);
}

TEST_F(ServingOrigin, FailuresThatStayAreToldAfterABoundedNumberOfTries)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    store->fail_next(std::vector<Error>(100, {Errc::io, "EIO", {}}));
    const Error error = error_of(*storage, placed, 0);
    EXPECT_EQ(error.code, Errc::io);
    EXPECT_THAT(error.message, AllOf(HasSubstr("config.json"), HasSubstr("bytes 0-999"), HasSubstr("EIO")));
    EXPECT_EQ(store->ranges, 4);
}

TEST_F(ServingOrigin, AClosedGateEndsTheTries)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    store->fail_next(std::vector<Error>(100, {Errc::io, "EIO", {}}));
    access.gate->close();
    EXPECT_EQ(error_of(*storage, placed, 0).code, Errc::io);
    EXPECT_EQ(store->ranges, 1);
}

TEST_F(ServingOrigin, OnlyWholePiecesAreReadAndNothingIsWritten)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto storage = storage_of(placed);
    std::string part(100, '\0');
    EXPECT_FALSE(storage->read({0}, 0, std::as_writable_bytes(std::span{part})));
    EXPECT_FALSE(storage->write({0}, 0, as_bytes(part)));
    EXPECT_EQ(store->ranges, 0);
}

TEST_F(ServingOrigin, ChangedLayersAreRefused)
{
    const Placed placed = shelf.place("llama", two_files());
    Shelf::flip(shelf.object(objectstore::layers_key(placed.id)), 40);
    const auto loaded = load(placed);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::integrity);
    EXPECT_THAT(loaded.error().message, HasSubstr(objectstore::layers_key(placed.id)));
}

TEST_F(ServingOrigin, AChangedManifestIsRefused)
{
    const Placed placed = shelf.place("llama", two_files());
    Shelf::flip(shelf.object(objectstore::manifest_key(placed.id)), 10);
    const auto loaded = load(placed);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::integrity);
    EXPECT_THAT(loaded.error().message, HasSubstr(objectstore::manifest_key(placed.id)));
}

TEST_F(ServingOrigin, AnUnknownRevisionIsNotFound)
{
    Placed placed = shelf.place("llama", two_files());
    placed.id.bytes[0] ^= 1;
    const auto loaded = load(placed);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::not_found);
}

TEST_F(ServingOrigin, BytesAndRequestsAreCounted)
{
    const auto metrics = std::make_shared<obs::Metrics>("test");
    const Placed placed = shelf.place("llama", two_files());
    MeteredStore metered{objectstore::open_store(shelf.url()).value(), metrics, access.gate};
    std::string bytes(1000, '\0');
    ASSERT_TRUE(metered.get_range(blob(placed, 0), 0, std::as_writable_bytes(std::span{bytes})));
    EXPECT_FALSE(metered.get_range("nothing", 0, std::as_writable_bytes(std::span{bytes})));
    EXPECT_THAT(
        metrics->text(), AllOf(HasSubstr("shoal_origin_bytes_total 1000"), HasSubstr("shoal_origin_requests_total{code=\"ok\",operation=\"get_range\"} 1"),
                             HasSubstr("shoal_origin_requests_total{code=\"not_found\",operation=\"get_range\"} 1")));
}

TEST_F(ServingOrigin, TheCeilingHoldsForAllReaders)
{
    const Placed placed = shelf.place("llama", two_files());
    const auto gate = std::make_shared<origin::OriginGate>(4'000'000);
    MeteredStore metered{objectstore::open_store(shelf.url()).value(), std::make_shared<obs::Metrics>("test"), gate};
    const TimePoint before = Clock::now();
    origin::SideBySide readers{4};
    readers.run(9, [&](std::size_t) {
        std::string bytes(100'000, '\0');
        EXPECT_TRUE(metered.get_range(blob(placed, 1), 0, std::as_writable_bytes(std::span{bytes})));
    });
    EXPECT_GE(Clock::now() - before, std::chrono::milliseconds{200});  // eight have waited for 25 ms each
}

TEST(SideBySide, DoesEachJobOnceAlsoWithSeveralCallers)
{
    origin::SideBySide pool{3};
    std::vector<std::atomic<int>> done(500);
    const auto caller = [&](std::size_t begin) { pool.run(250, [&done, begin](std::size_t i) { ++done[begin + i]; }); };
    std::thread other{caller, 250};
    caller(0);
    other.join();
    for (const auto& count : done) EXPECT_EQ(count, 1);
}

TEST(SideBySide, WithoutThreadsTheCallerDoesAll)
{
    origin::SideBySide pool{0};
    int done = 0;
    pool.run(5, [&done](std::size_t) { ++done; });
    EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace shoal::seeder
