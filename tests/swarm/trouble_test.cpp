// What goes wrong: lies, silence, limits, full disks, and storages that hang.
#include "tests/swarm/nodes.hpp"

#include <boost/system/system_error.hpp>

#include <atomic>
#include <future>

namespace shoal::swarm {
namespace {

using testing::HasSubstr;

const Content& medium()
{
    static const Content content = make_content({9'000'000, 1000}, model::min_piece_size, 5);
    return content;
}

TEST_F(Swarm, C26_ALiarIsFoundAndBannedAndTheOneBesideItIsNot)
{
    Node& liar = node();
    liar.add(medium(), MemoryStorage::Holds::all);
    liar.storage->lie();
    Node& honest = node(Kind::peer, [](SessionOptions& options) { options.upload_limit = 4'000'000; });  // so that the liar has its chance
    honest.add(medium(), MemoryStorage::Holds::all);
    Node& to = peer(medium());
    introduce(medium().revision, to, {&liar, &honest});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
    EXPECT_GE(to.count<PieceFailed>(), 1U);
    ASSERT_EQ(to.count<PeerBanned>(), 1U);
    EXPECT_THAT(to.first<PeerBanned>().endpoint, HasSubstr(":" + std::to_string(liar.session->port())));
    EXPECT_EQ(to.stats(medium()).connections, 1);
    liar.session->set_members(medium().revision, {to.member()});  // it may dial as it likes
    EXPECT_FALSE(until([&] { return to.stats(medium()).connections > 1; }, 2s));
}

TEST_F(Swarm, C26_WithALiarAloneNothingWrongIsTaken)
{
    Node& liar = node();
    liar.add(medium(), MemoryStorage::Holds::all);
    liar.storage->lie();
    Node& to = peer(medium());
    introduce(medium().revision, to, {&liar});
    ASSERT_TRUE(until([&] { return to.count<PeerBanned>() > 0; }));
    EXPECT_EQ(to.stats(medium()).bytes_have, to.count<PieceVerified>() * 0);
    EXPECT_FALSE(to.complete());
    Node& honest = seeder(medium());
    honest.session->set_members(medium().revision, {to.member(false)});
    to.session->set_members(medium().revision, {liar.member(), honest.member()});
    EXPECT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
}

TEST_F(Swarm, C24_ASourceThatSendsNothingIsReplacedWithinTenSeconds)
{
    Node& silent = node();
    silent.add(medium(), MemoryStorage::Holds::all);
    silent.storage->stick(true);
    Node& other = node(Kind::peer, [](SessionOptions& options) { options.upload_limit = 6'000'000; });
    other.add(medium(), MemoryStorage::Holds::all);
    Node& to = peer(medium());
    introduce(medium().revision, to, {&silent, &other});
    const TimePoint begin = Clock::now();
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_LT(Clock::now() - begin, 12s);  // and the time to get what it owed from the other
    EXPECT_TRUE(to.storage->complete());
    silent.storage->stick(false);
}

TEST_F(Swarm, C22_ALimitHoldsOnLoopback)
{
    constexpr std::uint64_t limit = 3'000'000;
    for (const Kind limited : {Kind::seeder, Kind::peer}) {
        Node& from = seeder(medium(), [&](SessionOptions& options) { options.upload_limit = limited == Kind::seeder ? limit : 0; });
        Node& to = peer(medium(), [&](SessionOptions& options) { options.download_limit = limited == Kind::peer ? limit : 0; });
        const TimePoint begin = Clock::now();
        introduce(medium().revision, to, {&from});
        ASSERT_TRUE(until([&] { return to.complete(); }));
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        const double rate = static_cast<double>(medium().bytes()) / seconds;
        EXPECT_LT(rate, 1.02 * static_cast<double>(limit));
        EXPECT_GT(rate, 0.5 * static_cast<double>(limit));  // a busy machine may be slower
        nodes_.clear();
    }
}

TEST_F(Swarm, C46_AFullDiskPausesAndGoesOnWithoutLoss)
{
    Node& from = seeder(medium());
    Node& to = peer(medium());
    to.storage->room(2'000'000);
    introduce(medium().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.count<StorageFailed>() > 0; }));
    EXPECT_EQ(to.first<StorageFailed>().error.code, Errc::no_space);
    EXPECT_THAT(to.first<StorageFailed>().error.message, HasSubstr("No space left"));
    ASSERT_TRUE(until([&] { return to.stats(medium()).connections == 0; }));  // paused
    const std::uint64_t had = to.stats(medium()).bytes_have;
    to.session->resume(medium().revision);  // still full
    ASSERT_TRUE(until([&] { return to.count<StorageFailed>() > 1; }));
    to.storage->room({});
    to.session->resume(medium().revision);
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
    EXPECT_GE(to.stats(medium()).bytes_have, had);
    EXPECT_EQ(to.count<PieceVerified>(), medium().pieces.size());
}

TEST_F(Swarm, AStoreThatFailsIsToldByTheSeederAndNothingOfThePieceLeaves)
{
    Node& from = seeder(medium());
    const Error error{Errc::integrity, "reading piece 3: blob x: expected a, found b", "publish again"};
    from.storage->fail(error);
    Node& to = peer(medium());
    introduce(medium().revision, to, {&from});
    ASSERT_TRUE(until([&] { return from.count<StorageFailed>() > 0; }));
    EXPECT_EQ(from.first<StorageFailed>().error, error);
    EXPECT_EQ(from.stats(medium()).sent, 0U);
    from.storage->fail({});
    std::size_t resumed = 0;  // once for each that is told: another read may have failed before the store was well again
    EXPECT_TRUE(until([&] {
        for (; resumed < from.count<StorageFailed>(); ++resumed) from.session->resume(medium().revision);
        return to.complete();
    }));
    EXPECT_EQ(to.count<PieceFailed>(), 0U);
}

TEST_F(Swarm, C51_ASessionEndsWithinTwoSecondsWhileItsStorageHangs)
{
    Node& from = seeder(medium());
    Node& to = peer(medium());
    from.storage->stick(true);
    introduce(medium().revision, to, {&from});
    from.storage->wait_until_stuck();
    const TimePoint begin = Clock::now();
    from.session.reset();
    EXPECT_LT(Clock::now() - begin, 2500ms);
    from.storage->stick(false);
    nodes_.erase(nodes_.begin());
}

TEST_F(Swarm, C51_ASessionEndsWithinTwoSecondsWhileItsWritesHang)
{
    Node& from = seeder(medium());
    Node& to = peer(medium());
    to.storage->stick(true);
    introduce(medium().revision, to, {&from});
    to.storage->wait_until_stuck();
    const TimePoint begin = Clock::now();
    to.session.reset();
    EXPECT_LT(Clock::now() - begin, 2500ms);
    to.storage->stick(false);
    nodes_.erase(nodes_.begin() + 1);
}

TEST_F(Swarm, C63_SessionsBrokenOffLeaveNoThreadBehind)
{
    Node& from = seeder(medium());
    for (int round = 0; round < 5; ++round) {
        Node& to = peer(medium());
        introduce(medium().revision, to, {&from});
        ASSERT_TRUE(until([&] { return to.count<PieceVerified>() > 0; }));
        const std::weak_ptr<MemoryStorage> storage = to.storage;
        nodes_.pop_back();
        EXPECT_TRUE(storage.expired());
    }
}

TEST_F(Swarm, ANetworkThreadThatDoesNotAnswerHasNoNumbersRatherThanZeros)
{
    std::promise<void> held, release;
    std::atomic<bool> hold{true};
    Node& from = seeder(medium());
    Node& to = peer(medium(), [&](SessionOptions& options) {
        options.notify = [&] {  // of the first piece: on the network thread
            if (!hold.exchange(false)) return;
            held.set_value();
            release.get_future().wait();
        };
    });
    introduce(medium().revision, to, {&from});
    ASSERT_EQ(held.get_future().wait_for(20s), std::future_status::ready);
    EXPECT_FALSE(to.session->stats(medium().revision));
    release.set_value();
    EXPECT_GT(to.stats(medium()).from_origin, 0U);
    nodes_.clear();
}

// An exception in what libtorrent calls stands for its own errors.
TEST_F(Swarm, ATorrentThatLibtorrentStopsByItselfIsToldWithRevisionAndCause)
{
    std::atomic<bool> once{true};
    Node& from = seeder(medium());
    Node& to = peer(medium(), [&](SessionOptions& options) {
        options.notify = [&] {  // of the first piece: on the network thread
            if (once.exchange(false)) throw boost::system::system_error{make_error_code(boost::system::errc::no_such_device)};
        };
    });
    introduce(medium().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.count<StorageFailed>() > 0; }));
    EXPECT_EQ(to.first<StorageFailed>().revision, medium().revision);
    EXPECT_THAT(to.first<StorageFailed>().error.message, AllOf(HasSubstr(to_string(medium().revision)), HasSubstr("No such device")));
    nodes_.clear();
}

// Each neighbour has another piece; all of them are of the largest size, and begun at once.
TEST_F(Swarm, C74_LargePiecesFromEightNeighboursAtOnceDoNotStandStill)
{
    const Content content = make_content({(std::uint64_t{8} * 16) << 20U}, 16U << 20U, 6);
    const auto all = std::make_shared<MemoryStorage>(content, MemoryStorage::Holds::all);
    std::vector<Node*> sources;
    for (std::uint32_t piece = 0; piece < 8; ++piece) {
        sources.push_back(&node(Kind::peer, [](SessionOptions& options) { options.buffer_bytes = 4U << 20U; }));
        std::vector<bool> have(content.pieces.size());
        have[piece] = true;
        sources.back()->add(content, all, have);
    }
    Node& to = node(Kind::peer, [](SessionOptions& options) { options.buffer_bytes = 64U << 20U; });
    to.add(content, MemoryStorage::Holds::nothing);
    introduce(content.revision, to, sources);
    EXPECT_TRUE(until([&] { return to.complete(); }, 50s));
    EXPECT_TRUE(to.storage->complete());
    nodes_.clear();
}

}  // namespace
}  // namespace shoal::swarm
