// Bytes leave the seeder once: it shows each piece to one peer, and real sessions pass it on.
#include "tests/swarm/nodes.hpp"

namespace shoal::swarm {
namespace {

const Content& model()
{
    static const Content content = make_content({16'000'000, 1000, 4'000'000});
    return content;
}

class DispatchedSwarm : public Swarm {
protected:
    std::vector<Node*> peers(std::size_t count)
    {
        std::vector<Node*> made;
        for (std::size_t i = 0; i < count; ++i) made.push_back(&peer(model()));
        return made;
    }
    static bool complete(const std::vector<Node*>& peers)
    {
        return std::all_of(peers.begin(), peers.end(), [](const Node* one) { return one->complete() && one->storage->complete(); });
    }
    static std::uint64_t sent(const std::vector<Node*>& seeders)
    {
        std::uint64_t bytes = 0;
        for (const Node* one : seeders) bytes += one->stats(model()).sent;
        return bytes;
    }
    // What a seeder may send more than once on purpose, when it has nothing else to do.
    static constexpr std::uint64_t slack = 1U << 18U;
};

TEST_F(DispatchedSwarm, EachPieceLeavesTheSeederOnce)
{
    Node& from = seeder(model());
    const auto to = peers(4);
    everybody_knows_everybody(model().revision);
    ASSERT_TRUE(until([&] { return complete(to); }));
    EXPECT_LE(sent({&from}), model().bytes() + slack);
    EXPECT_EQ(from.storage->reads(), model().pieces.size());
}

TEST_F(DispatchedSwarm, WhatAPeerHoldsAlreadyIsNotReadForIt)
{
    Node& from = seeder(model());
    Node& to = node();
    std::vector<bool> have(model().pieces.size());
    std::fill(have.begin(), have.begin() + 60, true);
    to.add(model(), std::make_shared<MemoryStorage>(model(), MemoryStorage::Holds::all), have);
    everybody_knows_everybody(model().revision);
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_EQ(from.storage->reads(), model().pieces.size() - 60);
}

TEST_F(DispatchedSwarm, C28_ASeederThatStartsAmidASwarmWaitsForThoseThatHoldSomething)
{
    Node& from = seeder(model());
    Node& to = peer(model());
    Node& holder = seeder(model(), [](SessionOptions& options) { options.kind = Kind::peer; });
    Member late = holder.member(false);
    late.holds_some = true;
    to.session->set_members(model().revision, {from.member(false), holder.member(false)});
    from.session->set_members(model().revision, {to.member(), late});
    ASSERT_TRUE(until([&] { return from.stats(model()).connections == 1; }));
    holder.session->set_members(model().revision, {from.member(), to.member()});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_EQ(sent({&from}), 0U);
}

TEST_F(DispatchedSwarm, AHolderThatNeverComesIsNotWaitedForLong)
{
    Node& from = seeder(model());
    Node& to = peer(model());
    from.session->set_members(model().revision, {to.member(), {.peer = random_id<PeerId>(), .key = {}, .dial = false, .endpoints = {}, .holds_some = true}});
    to.session->set_members(model().revision, {from.member(false)});
    EXPECT_TRUE(until([&] { return to.complete(); }));
}

TEST_F(DispatchedSwarm, PeersThatReachNobodyElseAreEachFed)
{
    Node& from = seeder(model());
    const auto to = peers(2);
    introduce(model().revision, from, to);
    EXPECT_TRUE(until([&] { return complete(to); }, 40s));
}

TEST_F(DispatchedSwarm, OneThatTakesAndNeverGivesHoldsNobodyUp)
{
    Node& from = seeder(model());
    auto to = peers(2);
    peer(model(), [](SessionOptions& options) { options.upload_limit = 1000; });
    everybody_knows_everybody(model().revision);
    EXPECT_TRUE(until([&] { return complete(to); }, 40s));
    EXPECT_LT(sent({&from}), 2 * model().bytes());
}

TEST_F(DispatchedSwarm, WhatOnlyOneHadThatDiedIsShownAgain)
{
    Node& from = seeder(model(), [](SessionOptions& options) { options.upload_limit = 8'000'000; });
    auto to = peers(3);
    everybody_knows_everybody(model().revision);
    ASSERT_TRUE(until([&] { return to[0]->count<PieceVerified>() > 5; }));
    nodes_.erase(std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& one) { return one.get() == to[0]; }));
    to.erase(to.begin());
    EXPECT_TRUE(until([&] { return complete(to); }, 40s));
    EXPECT_LT(sent({&from}), model().bytes() * 3 / 2);
}

TEST_F(DispatchedSwarm, WhoWantsAPartIsShownThatPartAndTheOthersAll)
{
    Node& from = seeder(model());
    Node& part = node();
    std::vector<bool> want(model().pieces.size());
    want[3] = want[70] = true;
    part.add(model(), MemoryStorage::Holds::nothing, [&](Torrent& torrent) { torrent.want = want; });
    const auto to = peers(2);
    everybody_knows_everybody(model().revision);
    ASSERT_TRUE(until([&] { return part.complete() && complete(to); }));
    EXPECT_LE(sent({&from}), model().bytes() + slack);
}

TEST_F(DispatchedSwarm, TwoSeedersShareThePieces)
{
    const std::vector<Node*> from{&seeder(model()), &seeder(model())};
    const auto to = peers(2);
    for (Node* one : from) one->session->set_seeders(model().revision, {from[0]->options.peer, from[1]->options.peer});
    everybody_knows_everybody(model().revision);
    ASSERT_TRUE(until([&] { return complete(to); }));
    EXPECT_LE(sent(from), model().bytes() + 2 * slack);
    for (Node* one : from) EXPECT_GT(sent({one}), model().bytes() / 4);
}

TEST_F(DispatchedSwarm, ASeederTakesOverThePiecesOfOneThatDied)
{
    Node& stays = seeder(model());
    Node& dies = seeder(model());
    const PeerId gone = dies.options.peer;
    stays.session->set_seeders(model().revision, {stays.options.peer, gone});
    const auto to = peers(1);
    introduce(model().revision, *to[0], {&stays});
    ASSERT_TRUE(until([&] { return to[0]->stats(model()).bytes_have > 0; }));
    stays.session->set_seeders(model().revision, {stays.options.peer});
    EXPECT_TRUE(until([&] { return complete(to); }));
}

}  // namespace
}  // namespace shoal::swarm
