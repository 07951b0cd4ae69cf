// What libtorrent may rely on, of every disk backend, through its own interface.
#include "tests/component/swarm/disk_bench.hpp"

namespace shoal::swarm {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class AnyDisk : public Bench, public testing::WithParamInterface<int> {
protected:
    [[nodiscard]] static Backend backend() { return GetParam() == 0 ? Backend::runs : Backend::pieces; }
};
INSTANTIATE_TEST_SUITE_P(Disks, AnyDisk, testing::Values(0, 1), [](const auto& made) { return made.param == 0 ? "Runs" : "Pieces"; });

TEST_P(AnyDisk, ReadsEveryBlock)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    for (std::uint32_t piece = 0; piece < three_files().pieces.size(); ++piece) {
        const std::string& bytes = three_files().pieces[piece];
        for (std::size_t at = 0; at < bytes.size(); at += block) {
            const auto length = std::min<std::size_t>(block, bytes.size() - at);
            EXPECT_TRUE(read(request(piece, static_cast<int>(at), static_cast<int>(length))).text() == bytes.substr(at, length)) << piece << " " << at;
        }
    }
}

TEST_P(AnyDisk, ReadsWhatIsNotAlignedAndAcrossRuns)
{
    open(backend(), large_pieces(), MemoryStorage::Holds::all);
    EXPECT_TRUE(read(request(1, 5, 100)).text() == large_pieces().pieces[1].substr(5, 100));
    EXPECT_TRUE(read(request(1, 262144 - 7, 1000)).text() == large_pieces().pieces[1].substr(262144 - 7, 1000));
}

TEST_P(AnyDisk, GivesZerosForTheTorrentsPadding)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    const std::uint32_t short_piece = 4;  // 1000 bytes, and 15 384 of padding
    ASSERT_EQ(three_files().pieces[short_piece].size(), 1000U);
    EXPECT_TRUE(read(request(short_piece, 0)).text() == three_files().pieces[short_piece] + std::string(block - 1000, '\0'));
}

TEST_P(AnyDisk, ReadsAtOnceOfOnePieceReadTheStorageOnce)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    std::vector<std::shared_ptr<std::optional<Answer>>> answers;
    for (int start = 0; start < 262144; start += block) answers.push_back(start_read(request(0, start)));
    EXPECT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_EQ(storage->reads(), 1U);
    for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_TRUE((*answers[i])->text() == three_files().pieces[0].substr(i * block, block));
}

TEST_P(AnyDisk, AFailedReadIsToldOnceAndWholeAndGivesNothing)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    const Error error{Errc::integrity, "reading piece 0: expected this, found that", "publish again"};
    storage->fail(error);
    const auto first = start_read(request(0, 0));
    const auto second = start_read(request(1, block));
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_TRUE((*first)->error);
    EXPECT_TRUE((*second)->error);
    EXPECT_EQ((*first)->buffer.data(), nullptr);
    EXPECT_THAT(sink.failures, ElementsAre(error));
    storage->fail({});
    disk->resume(three_files().revision);
    EXPECT_TRUE(read(request(0, 0)).text() == three_files().pieces[0].substr(0, block));
}

TEST_P(AnyDisk, HashesWhatIsStored)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    for (const std::uint32_t piece : {0U, 3U, 4U}) {
        const auto hashed = hash(piece);
        ASSERT_TRUE(until([&] { return hashed->result.has_value(); }));
        EXPECT_FALSE(*hashed->result);
        for (std::size_t i = 0; i < hashed->leaves.size(); ++i) EXPECT_EQ(hashed->leaves[i].to_string(), leaf(piece, i)) << piece << " " << i;
    }
}

TEST_P(AnyDisk, HashesSingleBlocks)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    std::map<int, std::string> found;
    for (const int start : {0, 3 * block, 4 * block}) {  // the last of this piece is short
        ++waiting;
        disk->async_hash2(
            holder, lt::piece_index_t{3}, start, {}, [&, start](lt::piece_index_t, const lt::sha256_hash& digest, const lt::storage_error& error) {
                --waiting;
                EXPECT_FALSE(error);
                found[start] = digest.to_string();
            });
    }
    ASSERT_TRUE(until([&] { return waiting == 0; }));
    for (const auto& [start, digest] : found) EXPECT_EQ(digest, leaf(3, static_cast<std::size_t>(start / block)));
}

TEST_P(AnyDisk, LentBuffersStayWhatTheyAreWhileOthersAreRead)
{
    open(backend(), large_pieces(), MemoryStorage::Holds::all, 2U << 20U);
    std::vector<Answer> kept;
    for (std::uint32_t piece = 0; piece < 8; ++piece) kept.push_back(read(request(piece, 3 * block)));
    for (std::uint32_t piece = 0; piece < 8; ++piece)
        for (int start = 0; start < (1 << 20); start += 4 * block) read(request(piece, start));
    for (std::uint32_t piece = 0; piece < 8; ++piece) EXPECT_TRUE(kept[piece].text() == large_pieces().pieces[piece].substr(3 * block, block)) << piece;
}

TEST_P(AnyDisk, SlowNeighboursThatKeepBuffersDoNotStopOthers)
{
    open(backend(), large_pieces(), MemoryStorage::Holds::all, 2U << 20U);
    std::vector<Answer> kept;  // from each run of each piece, more than the arena has
    for (std::uint32_t piece = 0; piece < 8; ++piece)
        for (int start = 0; start < (1 << 20); start += 16 * block) kept.push_back(read(request(piece, start)));
    for (const Answer& answer : kept) EXPECT_FALSE(answer.error);
}

TEST_P(AnyDisk, ClosingAnswersWhatWaitsForAStuckStorage)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    storage->stick(true);
    const auto reading = start_read(request(0, 0));
    const auto hashing = hash(1);
    storage->wait_until_stuck(2);
    disk->close(three_files().revision);
    EXPECT_TRUE(until([&] { return waiting == 0; }));
    EXPECT_TRUE((*reading)->error);
    EXPECT_TRUE(hashing->result && *hashing->result);
    EXPECT_TRUE(read(request(0, 0)).error);  // takes nothing more
    EXPECT_THAT(sink.failures, IsEmpty());
}

TEST_P(AnyDisk, EndsWithinItsTimeWhileTheStorageIsStuck)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    storage->stick(true);
    start_read(request(0, 0));
    storage->wait_until_stuck();
    disk->abort(true);
    EXPECT_TRUE(until([&] { return waiting == 0; }));
    holder.reset();
    const auto begin = std::chrono::steady_clock::now();
    disk.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
    sink.contents.clear();
    storage->stick(false);
    storage.reset();  // the thread that was let go holds it to the end of its read
}

TEST_P(AnyDisk, AnswersWhatItHasNothingToDoFor)
{
    open(backend(), three_files(), MemoryStorage::Holds::all);
    int answered = 0;
    disk->async_check_files(holder, nullptr, {}, [&](lt::status_t status, const lt::storage_error& error) {
        EXPECT_EQ(status, lt::status_t::no_error);
        EXPECT_FALSE(error);
        ++answered;
    });
    disk->async_release_files(holder, [&] { ++answered; });
    disk->async_stop_torrent(holder, [&] { ++answered; });
    disk->async_clear_piece(holder, lt::piece_index_t{1}, [&](lt::piece_index_t piece) {
        EXPECT_EQ(piece, lt::piece_index_t{1});
        ++answered;
    });
    disk->async_set_file_priority(holder, {}, [&](const lt::storage_error& error, const auto&) {
        EXPECT_FALSE(error);
        ++answered;
    });
    EXPECT_EQ(answered, 0);  // never inside the call
    EXPECT_TRUE(until([&] { return answered == 5; }));
}

}  // namespace
}  // namespace shoal::swarm
