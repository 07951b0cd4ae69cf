// The seeder's disk: pieces are read whole, kept while they are served, and read ahead.
#include "tests/component/swarm/disk_bench.hpp"

namespace shoal::swarm {
namespace {

using namespace std::chrono_literals;

class Pieces : public Bench {};

TEST_F(Pieces, ReadsWholePiecesAndKeepsThemUntilTheyAreServed)
{
    const Content content = make_content({12U << 20U}, 4U << 20U, 3);
    open(Backend::pieces, content, MemoryStorage::Holds::all, 0);  // room for 8 of them: the least there is
    for (int start = 0; start < (4 << 20); start += block)
        for (std::uint32_t piece = 0; piece < 3; ++piece) EXPECT_FALSE(read(request(piece, start)).error);
    EXPECT_EQ(storage->reads(), 3U);
}

TEST_F(Pieces, ServedPiecesMakeWayAndWaitingOnesComeInTurn)
{
    const Content content = make_content({static_cast<std::uint64_t>(80) << 20U}, 16U << 20U, 4);
    open(Backend::pieces, content, MemoryStorage::Holds::all, 0);  // two pieces
    std::vector<std::shared_ptr<std::optional<Answer>>> answers;
    for (std::uint32_t piece = 0; piece < 5; ++piece) answers.push_back(start_read(request(piece, 0)));
    ASSERT_TRUE(until([&] { return *answers[0] && *answers[1]; }));
    settle();
    EXPECT_FALSE(*answers[2]);
    for (auto& answer : answers)
        if (*answer) (*answer)->buffer.reset();
    TimePoint now = Clock::now();
    disk->tick(now += 2s);  // served in part, and idle
    ASSERT_TRUE(until([&] { return *answers[2] && *answers[3]; }));
    for (auto& answer : answers)
        if (*answer) (*answer)->buffer.reset();
    disk->tick(now += 2s);
    ASSERT_TRUE(until([&] { return waiting == 0; }));
}

TEST_F(Pieces, WhatIsExpectedIsReadAheadOnce)
{
    open(Backend::pieces, three_files(), MemoryStorage::Holds::all);
    disk->expect(three_files().revision, {2});
    disk->expect(three_files().revision, {2});
    ASSERT_TRUE(until([&] { return storage->reads() == 1; }));
    EXPECT_TRUE(read(request(2, block)).text() == three_files().pieces[2].substr(block, block));
    EXPECT_EQ(storage->reads(), 1U);
}

TEST_F(Pieces, ReadsSeveralPiecesAtOnce)
{
    open(Backend::pieces, three_files(), MemoryStorage::Holds::all, 64U << 20U, 3);
    storage->stick(true);
    for (std::uint32_t piece = 0; piece < 3; ++piece) start_read(request(piece, 0));
    storage->wait_until_stuck(3);
    storage->stick(false);
    EXPECT_TRUE(until([&] { return waiting == 0; }));
}

}  // namespace
}  // namespace shoal::swarm
