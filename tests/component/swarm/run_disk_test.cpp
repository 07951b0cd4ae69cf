// The peer's disk: what is received is judged, written once, bounded, and goes on after a failure.
#include "tests/component/swarm/disk_bench.hpp"

namespace shoal::swarm {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

class Runs : public Bench {};

TEST_F(Runs, APieceIsJudgedWhenAllOfItIsWritten)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    const auto writes = write_piece(3);  // with a short last block
    const auto hashed = hash(3);
    ASSERT_TRUE(until([&] { return hashed->result.has_value(); }));
    EXPECT_FALSE(*hashed->result);
    for (const auto& one : writes) EXPECT_TRUE(one->result && !*one->result);
    EXPECT_TRUE(storage->equal(3));
    EXPECT_THAT(sink.passed, ElementsAre(3));
    EXPECT_THAT(sink.taken, SizeIs(5));
    EXPECT_EQ(sink.trusting, 0);
    for (std::size_t i = 0; i < hashed->leaves.size(); ++i) EXPECT_EQ(hashed->leaves[i].to_string(), leaf(3, i));
    const std::size_t reads = storage->reads();
    EXPECT_TRUE(read(request(3, 0)).text() == three_files().pieces[3].substr(0, block));
    EXPECT_EQ(storage->reads(), reads);  // from the arena
}

TEST_F(Runs, BlocksMayComeInAnyOrder)
{
    open(Backend::runs, large_pieces(), MemoryStorage::Holds::nothing);
    for (int start = (1 << 20) - block; start >= 0; start -= block) write(2, start);
    const auto hashed = hash(2);
    ASSERT_TRUE(until([&] { return hashed->result.has_value(); }));
    EXPECT_TRUE(storage->equal(2));
}

TEST_F(Runs, AWrongPieceIsGivenBackBlockByBlockAndMayComeAgain)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    const auto writes = write_piece(0, {3});
    const auto hashed = hash(0);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_EQ(hashed->result->ec, cancelled().ec);
    for (const auto& one : writes) EXPECT_EQ(one->result->ec, cancelled().ec);
    EXPECT_THAT(sink.wrong, ElementsAre(0));
    EXPECT_EQ(sink.reopened, 1);
    write_piece(0);
    const auto again = hash(0);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_FALSE(*again->result);
    EXPECT_TRUE(storage->equal(0));
    EXPECT_TRUE(read(request(0, 3 * block)).text() == three_files().pieces[0].substr(3 * block, block));
    EXPECT_THAT(sink.passed, ElementsAre(0));
}

TEST_F(Runs, WhatIsVerifiedIsNeverWrittenAgain)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::all);
    const auto written = write(0, 0, nullptr, true);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_FALSE(*written->result);
    EXPECT_TRUE(storage->untouched());
    EXPECT_TRUE(storage->equal(0));
}

TEST_F(Runs, OfABlockThatComesTwiceTheFirstCounts)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    write(0, 0);
    write(0, 0, nullptr, true);
    for (int start = block; start < 262144; start += block) write(0, start);
    const auto hashed = hash(0);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_FALSE(*hashed->result);
    EXPECT_TRUE(storage->equal(0));
}

TEST_F(Runs, AFailedWriteIsToldOnceAndGoesOnAfterResume)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    storage->room(0);
    const auto first = write_piece(0), second = write_piece(1);
    const auto hashed = hash(0), other = hash(1);
    ASSERT_TRUE(until([&] { return !sink.failures.empty(); }));
    ASSERT_FALSE(until([&] { return hashed->result || other->result; }, 100ms));
    ASSERT_THAT(sink.failures, SizeIs(1));
    EXPECT_EQ(sink.failures[0].code, Errc::no_space);
    storage->room({});
    disk->resume(three_files().revision);
    ASSERT_TRUE(until([&] { return waiting == 0; }));  // nothing had to come again
    EXPECT_FALSE(*hashed->result);
    EXPECT_FALSE(*other->result);
    EXPECT_TRUE(storage->equal(0) && storage->equal(1));
}

TEST_F(Runs, HoldsBackOnlyWhileTheStorageIsBehind)
{
    open(Backend::runs, large_pieces(), MemoryStorage::Holds::nothing, 2U << 20U);
    storage->stick(true);
    const auto observer = std::make_shared<Observer>();
    bool stopped = false;
    for (std::uint32_t piece = 0; piece < 4 && !stopped; ++piece)
        for (int start = 0; start < (1 << 20) && !stopped; start += block) stopped = write(piece, start, observer)->stop;
    EXPECT_TRUE(stopped);
    settle();
    EXPECT_EQ(observer->told, 0);
    storage->stick(false);
    EXPECT_TRUE(until([&] { return observer->told == 1; }));
}

TEST_F(Runs, NothingIsLostWhenNoSlotIsFree)
{
    open(Backend::runs, large_pieces(), MemoryStorage::Holds::nothing, 2U << 20U);  // 8 slots for 32 runs
    storage->stick(true);
    std::vector<std::shared_ptr<Write>> writes;
    for (std::uint32_t piece = 0; piece < 2; ++piece)
        for (const auto& one : write_piece(piece)) writes.push_back(one);
    const auto first = hash(0), second = hash(1);
    storage->stick(false);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_FALSE(*first->result);
    EXPECT_FALSE(*second->result);
    EXPECT_TRUE(storage->equal(0) && storage->equal(1));
}

TEST_F(Runs, WhatGoesBeyondEveryBoundIsGivenBack)
{
    open(Backend::runs, large_pieces(), MemoryStorage::Holds::nothing, 2U << 20U);
    storage->stick(true);
    std::vector<std::shared_ptr<Write>> writes;
    for (std::uint32_t piece = 0; piece < 8; ++piece)
        for (const auto& one : write_piece(piece)) writes.push_back(one);
    settle();
    const auto refused = std::count_if(writes.begin(), writes.end(), [](const auto& one) { return one->result && one->result->ec == cancelled().ec; });
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, static_cast<std::ptrdiff_t>(writes.size()));
}

// As 8 neighbours do that each send another piece, block by block in turn: far more runs are begun than the arena has slots.
TEST_F(Runs, C74_ManyPiecesAtOnceInASmallArenaDoNotStandStill)
{
    open(Backend::runs, large_pieces(), MemoryStorage::Holds::nothing, 2U << 20U);
    const auto observer = std::make_shared<Observer>();
    std::vector<std::vector<int>> todo(8);
    for (int run = 0; run < 4; ++run)  // run by run, so that a piece has four begun
        for (int number = 0; number < 16; ++number)
            for (auto& blocks : todo) blocks.push_back((number % 4 * 16 + run * 4 + number / 4) * block);
    for (std::size_t i = 0; i < todo[0].size(); ++i) {
        for (std::uint32_t piece = 0; piece < 8; ++piece) {
            if (!write(piece, todo[piece][i], observer)->stop) continue;
            const int told = observer->told;
            ASSERT_TRUE(until([&] { return observer->told > told; })) << "block " << i << " of piece " << piece;
        }
    }
    std::vector<std::shared_ptr<Hashed>> hashes;
    for (std::uint32_t piece = 0; piece < 8; ++piece) hashes.push_back(hash(piece));
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_TRUE(storage->complete());
    EXPECT_THAT(sink.passed, SizeIs(8));
}

TEST_F(Runs, ClosingGivesBackWhatIsNotWhole)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    const auto begun = write(0, 0);
    const auto whole = write_piece(1);
    disk->close(three_files().revision);
    EXPECT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_EQ(begun->result->ec, cancelled().ec);
    const auto after = write(2, 0);
    EXPECT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_EQ(after->result->ec, cancelled().ec);
}

TEST_F(Runs, ClearingAPieceWaitsForItsWrites)
{
    open(Backend::runs, three_files(), MemoryStorage::Holds::nothing);
    storage->stick(true);
    const auto writes = write_piece(0);
    storage->wait_until_stuck();
    bool cleared = false;
    disk->async_clear_piece(holder, lt::piece_index_t{0}, [&](lt::piece_index_t) { cleared = true; });
    settle();
    EXPECT_FALSE(cleared);
    storage->stick(false);
    EXPECT_TRUE(until([&] { return cleared && waiting == 0; }));
}

}  // namespace
}  // namespace shoal::swarm
