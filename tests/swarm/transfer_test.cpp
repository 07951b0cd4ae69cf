// Models move between real sessions on loopback.
#include "tests/swarm/nodes.hpp"

namespace shoal::swarm {
namespace {

using testing::HasSubstr;

const Content& small()
{
    static const Content content = make_content({3'000'000, 1000, 500'000});
    return content;
}

const Content& other()
{
    static const Content content = make_content({2'000'000}, model::min_piece_size, 2);
    return content;
}

TEST_F(Swarm, APeerGetsAllFromTheSeeder)
{
    Node& from = seeder(small());
    Node& to = peer(small());
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
    EXPECT_EQ(to.count<PieceVerified>(), small().pieces.size());
    const TorrentStats stats = to.stats(small());
    EXPECT_EQ(stats.bytes_have, small().bytes());
    EXPECT_EQ(stats.bytes_wanted, small().bytes());
    EXPECT_EQ(stats.from_origin, small().bytes());
    EXPECT_EQ(stats.from_peers, 0U);
    EXPECT_EQ(stats.pieces_nobody_has, 0U);
    EXPECT_THAT(stats.received, testing::ElementsAre(testing::Pair(from.options.peer, small().bytes())));
    EXPECT_EQ(from.stats(small()).sent, small().bytes());
    EXPECT_EQ(from.storage->reads(), small().pieces.size());  // each piece once
}

TEST_F(Swarm, APeerGetsAllFromAPeer)
{
    Node& from = node();
    from.add(small(), MemoryStorage::Holds::all);
    Node& to = peer(small());
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
    EXPECT_EQ(to.stats(small()).from_peers, small().bytes());
    EXPECT_EQ(to.stats(small()).from_origin, 0U);
}

TEST_F(Swarm, WhoeverIsDialledMayBeTheOneThatFetches)
{
    Node& from = seeder(small());
    Node& to = peer(small());
    introduce(small().revision, from, {&to});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
}

TEST_F(Swarm, PeersThatDialEachOtherShareWhatTheyGet)
{
    seeder(small());
    std::vector<Node*> peers{&peer(small()), &peer(small()), &peer(small())};
    everybody_knows_everybody(small().revision);
    ASSERT_TRUE(until([&] { return std::all_of(peers.begin(), peers.end(), [](Node* one) { return one->complete(); }); }));
    for (Node* one : peers) EXPECT_TRUE(one->storage->complete());
    // One connection to each, whoever dialled.
    EXPECT_TRUE(until([&] { return std::all_of(peers.begin(), peers.end(), [](Node* one) { return one->stats(small()).connections == 3; }); }));
}

TEST_F(Swarm, OnlyWhatIsMissingIsFetched)
{
    Node& from = seeder(small());
    Node& to = node();
    auto storage = std::make_shared<MemoryStorage>(small(), MemoryStorage::Holds::nothing);
    std::vector<bool> have(small().pieces.size());
    std::uint64_t missing = small().bytes();
    for (const std::uint32_t piece : {0U, 3U, 12U}) {
        have[piece] = true;
        storage->put(piece);
        missing -= small().pieces[piece].size();
    }
    to.add(small(), storage, have);
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(storage->complete());
    EXPECT_EQ(storage->written(), missing);
    EXPECT_EQ(to.stats(small()).from_origin, missing);
    EXPECT_EQ(to.stats(small()).bytes_have, small().bytes());
}

TEST_F(Swarm, WhatIsHeldAlreadyIsCompleteAtOnce)
{
    Node& to = node();
    to.add(small(), MemoryStorage::Holds::all);
    EXPECT_TRUE(until([&] { return to.complete(); }));
}

TEST_F(Swarm, OnlyWhatIsWantedIsFetched)
{
    Node& from = seeder(small());
    Node& to = node();
    std::vector<bool> want(small().pieces.size());
    want[1] = want[5] = true;
    to.add(small(), MemoryStorage::Holds::nothing, [&](Torrent& torrent) { torrent.want = want; });
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->equal(1) && to.storage->equal(5));
    EXPECT_EQ(to.storage->written(), small().pieces[1].size() + small().pieces[5].size());
    EXPECT_EQ(to.stats(small()).bytes_wanted, to.storage->written());
}

TEST_F(Swarm, C21_PacksOfSmallFilesArrive)
{
    std::vector<std::uint64_t> sizes(300, 4096);
    sizes.push_back(1);
    sizes.push_back(0);
    sizes.push_back(700'000);
    const Content content = make_content(sizes, model::min_piece_size, 3);
    Node& from = seeder(content);
    Node& to = peer(content);
    introduce(content.revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(to.storage->complete());
    EXPECT_EQ(to.stats(content).from_origin, content.bytes());
    to.session.reset();  // before what they refer to
    from.session.reset();
    nodes_.clear();
}

TEST_F(Swarm, SeveralRevisionsMoveAtOnceInOneSession)
{
    Node& from = seeder(small());
    from.add(other(), MemoryStorage::Holds::all);
    Node& to = peer(small());
    const auto first = to.storage;
    const auto second = to.add(other(), MemoryStorage::Holds::nothing);
    introduce(small().revision, to, {&from});
    introduce(other().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.count<Complete>() == 2; }));
    EXPECT_TRUE(first->complete());
    EXPECT_TRUE(second->complete());
}

TEST_F(Swarm, C57_ARemovedTorrentLetsItsStorageGoWhileItIsFetched)
{
    Node& from = seeder(small(), [](SessionOptions& options) { options.upload_limit = 400'000; });
    Node& to = peer(small());
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.count<PieceVerified>() > 0; }));
    const std::weak_ptr<MemoryStorage> storage = std::exchange(to.storage, nullptr);
    to.session->remove(small().revision);
    EXPECT_TRUE(until([&] { return storage.expired(); }));
    EXPECT_FALSE(to.session->stats(small().revision));
    to.add(small(), MemoryStorage::Holds::nothing);  // and may come back
    from.session.reset();
    nodes_.erase(nodes_.begin());
}

TEST_F(Swarm, ATorrentIsAddedOnce)
{
    Node& to = peer(small());
    const auto again = to.session->add({small().revision, small().layout, small().layers, {}, to.storage, std::vector<bool>(small().pieces.size()), {}});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Errc::exists);
}

TEST_F(Swarm, SaysWhoNeedsUsAndWhatNobodyHas)
{
    Node& holder = node();
    holder.add(small(), MemoryStorage::Holds::all);
    Node& to = peer(small());
    EXPECT_EQ(to.stats(small()).pieces_nobody_has, small().pieces.size());
    EXPECT_EQ(holder.stats(small()).needing_us, 0);  // nobody is here
    to.storage->stick(true);
    introduce(small().revision, to, {&holder});
    ASSERT_TRUE(until([&] { return to.stats(small()).pieces_nobody_has == 0; }));
    ASSERT_TRUE(until([&] { return holder.stats(small()).needing_us == 1; }));
    to.storage->stick(false);
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_TRUE(until([&] { return holder.stats(small()).needing_us == 0; }));
}

TEST_F(Swarm, AnAddressThatIsTakenIsNamedOrAnotherPortIsFound)
{
    Node& first = node();
    const std::string taken = "127.0.0.1:" + std::to_string(first.session->port());
    SessionOptions options;
    options.listen = {taken};
    const auto refused = Session::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::not_allowed);
    EXPECT_THAT(refused.error().message, HasSubstr(taken));
    options.any_port_if_taken = true;
    const auto moved = Session::open(options);
    ASSERT_TRUE(moved) << moved.error().text();
    EXPECT_NE(moved.value()->port(), 0);
    EXPECT_NE(moved.value()->port(), first.session->port());
}

TEST_F(Swarm, AnAddressThatIsNoneIsInvalid)
{
    SessionOptions options;
    options.listen = {"localhost:6881"};
    const auto refused = Session::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
}

}  // namespace
}  // namespace shoal::swarm
