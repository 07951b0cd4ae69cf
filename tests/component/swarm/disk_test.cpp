// What libtorrent may rely on, of every disk backend, through its own interface.
#include "common/crypto/block_tree.hpp"
#include "common/model/torrent.hpp"
#include "common/swarm/piece_disk.hpp"
#include "common/swarm/run_disk.hpp"
#include "tests/swarm/content.hpp"

#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/storage_defs.hpp>
#include <libtorrent/torrent_info.hpp>

#include <gmock/gmock.h>

#include <set>

namespace shoal::swarm {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int block = 16384;

struct RecordingSink final : DiskSink {
    std::shared_ptr<const DiskContent> content(const std::string& path) override { return contents.at(path); }
    void storage_failed(const RevisionId&, const Error& error) override { failures.push_back(error); }
    void block_taken(const RevisionId&, PieceIndex piece, std::uint32_t number) override { taken.emplace(piece.value, number); }
    void piece_judged(const RevisionId&, PieceIndex piece, bool right, std::span<const Digest>) override { (right ? passed : wrong).push_back(piece.value); }
    void piece_reopened(const RevisionId&) override { ++reopened; }
    void begin_trust() override { ++trusting; }
    void end_trust() override { --trusting; }

    std::map<std::string, std::shared_ptr<const DiskContent>> contents;
    std::vector<Error> failures;
    std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
    std::vector<std::uint32_t> passed, wrong;
    int trusting = 0;
    int reopened = 0;
};

struct Observer final : lt::disk_observer {
    void on_disk() override { ++told; }
    int told = 0;
};

// One torrent in one backend, and this test as its network thread.
class Bench : public testing::Test {
protected:
    enum class Backend { runs, pieces };
    void open(Backend backend, const Content& content, MemoryStorage::Holds holds, std::size_t buffer_bytes = 64U << 20U, unsigned threads = 2)
    {
        content_ = &content;
        storage = std::make_shared<MemoryStorage>(content, holds);
        const std::vector<bool> have(content.pieces.size(), holds == MemoryStorage::Holds::all);
        sink.contents["here"] = std::make_shared<DiskContent>(DiskContent{content.revision, content.layout, content.layers, storage, have});
        const auto network = std::make_shared<NetworkThread>(context);
        if (backend == Backend::runs)
            disk = std::make_unique<RunDisk>(network, sink, buffer_bytes, threads);
        else
            disk = std::make_unique<PieceDisk>(network, sink, buffer_bytes, threads);
        const std::string file = model::torrent_file(*content.layout, *content.layers, content.revision);
        info = std::make_unique<lt::torrent_info>(lt::span<const char>{file.data(), static_cast<std::ptrdiff_t>(file.size())}, lt::from_span);
        const lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities;
        const std::string path = "here";
        holder = disk->new_torrent({info->files(), nullptr, path, lt::storage_mode_sparse, priorities, {}}, nullptr);
    }
    void TearDown() override
    {
        if (storage) storage->stick(false);
        if (!disk) return;
        disk->abort(true);
        EXPECT_TRUE(until([this] { return waiting == 0; }));  // each handler is called once, whatever happens
        holder.reset();
    }

    bool until(const std::function<bool()>& so, std::chrono::milliseconds within = 10s)
    {
        const auto deadline = std::chrono::steady_clock::now() + within;
        while (!so()) {
            context.restart();
            context.run_one_for(10ms);
            if (std::chrono::steady_clock::now() > deadline) return false;
        }
        return true;
    }
    // All that is on its way without the storage's doing.
    void settle()
    {
        context.restart();
        context.poll();
    }

    static lt::peer_request request(std::uint32_t piece, int start, int length = block) { return {lt::piece_index_t{static_cast<int>(piece)}, start, length}; }

    struct Answer {
        lt::disk_buffer_holder buffer;
        lt::storage_error error;
        [[nodiscard]] std::string text() const { return {buffer.data(), static_cast<std::size_t>(buffer.size())}; }
    };
    std::shared_ptr<std::optional<Answer>> start_read(const lt::peer_request& what)
    {
        auto answer = std::make_shared<std::optional<Answer>>();
        ++waiting;
        disk->async_read(holder, what, [this, answer](lt::disk_buffer_holder buffer, const lt::storage_error& error) {
            --waiting;
            answer->emplace(Answer{std::move(buffer), error});
        });
        return answer;
    }
    Answer read(const lt::peer_request& what)
    {
        auto answer = start_read(what);
        EXPECT_TRUE(until([&] { return answer->has_value(); }));
        return answer->has_value() ? std::move(**answer) : Answer{{}, cancelled()};
    }

    struct Write {
        std::optional<lt::storage_error> result;
        bool stop = false;  // what async_write said
    };
    std::shared_ptr<Write> write(std::uint32_t piece, int start, std::shared_ptr<lt::disk_observer> observer = nullptr, bool spoil = false)
    {
        std::string bytes = content_->pieces[piece].substr(static_cast<std::size_t>(start), block);
        const int length = static_cast<int>(bytes.size());
        if (spoil) bytes[0] = static_cast<char>(bytes[0] ^ 1);
        auto written = std::make_shared<Write>();
        ++waiting;
        written->stop =
            disk->async_write(holder, request(piece, start, length), bytes.data(), std::move(observer), [this, written](const lt::storage_error& error) {
                --waiting;
                EXPECT_FALSE(written->result);
                written->result = error;
            });
        return written;
    }
    std::vector<std::shared_ptr<Write>> write_piece(std::uint32_t piece, const std::set<int>& spoiled = {})
    {
        std::vector<std::shared_ptr<Write>> writes;
        for (int start = 0; start < static_cast<int>(content_->pieces[piece].size()); start += block)
            writes.push_back(write(piece, start, nullptr, spoiled.contains(start / block)));
        return writes;
    }
    struct Hashed {
        std::vector<lt::sha256_hash> leaves;
        std::optional<lt::storage_error> result;
    };
    std::shared_ptr<Hashed> hash(std::uint32_t piece)
    {
        auto hashed = std::make_shared<Hashed>();
        std::vector<lt::sha256_hash> leaves((content_->pieces[piece].size() + block - 1) / block);
        const lt::span<lt::sha256_hash> span{leaves};
        ++waiting;
        // As libtorrent does it: the span points into the handler.
        disk->async_hash(holder, lt::piece_index_t{static_cast<int>(piece)}, span, {},
            [this, hashed, leaves = std::move(leaves)](lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error& error) mutable {
                --waiting;
                hashed->leaves = std::move(leaves);
                hashed->result = error;
            });
        return hashed;
    }
    [[nodiscard]] std::string leaf(std::uint32_t piece, std::size_t number) const
    {
        const std::string bytes = content_->pieces[piece].substr(number * block, block);
        Digest digest;
        crypto::hash_blocks(as_bytes(bytes), {&digest, 1});
        return {reinterpret_cast<const char*>(digest.bytes.data()), Digest::size};
    }

    lt::io_context context;
    RecordingSink sink;
    std::shared_ptr<MemoryStorage> storage;
    std::unique_ptr<Disk> disk;
    std::unique_ptr<lt::torrent_info> info;
    lt::storage_holder holder;
    const Content* content_ = nullptr;
    int waiting = 0;  // handlers not called yet
};

const Content& three_files()
{
    static const Content content = make_content({3 * 262144 + 70'000, 1000, 262144});
    return content;
}

const Content& large_pieces()
{
    static const Content content = make_content({8U << 20U}, 1U << 20U, 2);
    return content;
}

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

// The peer's

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

// The seeder's

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
