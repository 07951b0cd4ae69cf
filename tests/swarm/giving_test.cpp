// Pieces that a peer's owner has read from the store itself: they come into the swarm as if a neighbour had sent them.
#include "tests/swarm/nodes.hpp"

namespace shoal::swarm {
namespace {

class Giving : public Swarm {
protected:
    static void give(Node& to, const Content& content, std::uint32_t piece)
    {
        to.session->give(content.revision, {piece}, {content.pieces[piece].begin(), content.pieces[piece].end()});
    }
    // Until it is taken: one that is refused is given again.
    bool give_all(Node& to, const Content& content)
    {
        std::size_t answered = 0;
        for (std::uint32_t piece = 0; piece < content.pieces.size(); ++piece) give(to, content, piece);
        return until([&] {
            for (; answered < to.events.size(); ++answered)
                if (const auto* refused = std::get_if<PieceRefused>(&to.events[answered]))
                    if (!to.complete()) give(to, content, refused->piece.value);
            return to.complete();
        });
    }
};

TEST_F(Giving, AllPiecesOfAnyShapeAreVerifiedAndWritten)
{
    std::vector<std::uint64_t> sizes(300, 3000);  // in packs
    sizes.insert(sizes.end(), {1, 16384, 16385, 3 * 262144, 5'000'001});
    const Content content = make_content(sizes);
    Node& alone = peer(content);
    ASSERT_TRUE(give_all(alone, content));
    EXPECT_TRUE(alone.storage->complete());
    EXPECT_GE(alone.stats(content).given, content.bytes());
    EXPECT_EQ(alone.stats(content).given, alone.stats(content).from_origin);
    EXPECT_EQ(alone.count<PieceVerified>(), content.pieces.size());
}

TEST_F(Giving, WhatWasGivenIsHandedOn)
{
    const Content content = make_content({4'000'000});
    Node& reads = peer(content);
    Node& waits = peer(content);
    everybody_knows_everybody(content.revision);
    ASSERT_TRUE(give_all(reads, content));
    ASSERT_TRUE(until([&] { return waits.complete(); }));
    EXPECT_TRUE(waits.storage->complete());
    EXPECT_EQ(waits.stats(content).from_peers, content.bytes());
    EXPECT_EQ(waits.stats(content).given, 0U);
}

TEST_F(Giving, ItTakesThePlaceOfWhatADeadSeederLeftOfAPiece)
{
    const Content content = make_content({8U << 20U}, 4U << 20U);
    Node& slow = seeder(content, [](SessionOptions& options) { options.upload_limit = 600'000; });
    Node& one = peer(content);
    introduce(content.revision, one, {&slow});
    ASSERT_TRUE(until([&] { return one.stats(content).from_origin > 300'000; }));
    ASSERT_EQ(one.count<PieceVerified>(), 0U);
    slow.session.reset();
    nodes_.erase(nodes_.begin());
    ASSERT_TRUE(give_all(one, content));
    EXPECT_TRUE(one.storage->complete());
}

TEST_F(Giving, WhatIsHereAlreadyIsRefused)
{
    const Content content = make_content({1'000'000});
    Node& one = node();
    one.add(content, std::make_shared<MemoryStorage>(content, MemoryStorage::Holds::all), std::vector<bool>{true, false, true, true});
    give(one, content, 0);
    ASSERT_TRUE(until([&] { return one.count<PieceRefused>() > 0; }));
    EXPECT_EQ(one.count<PieceVerified>(), 0U);
    EXPECT_TRUE(one.storage->untouched());
}

TEST_F(Giving, BytesThatAreNotThePieceEndInAFailureAndAreNeverTakenForIt)
{
    const Content content = make_content({1'000'000});
    Node& one = peer(content);
    std::vector<char> wrong(content.pieces[1].begin(), content.pieces[1].end());
    wrong[77777] ^= 1;
    std::size_t given = 0;
    ASSERT_TRUE(until([&] {
        if (given == one.count<PieceRefused>()) {  // once, and again as long as it is refused
            ++given;
            one.session->give(content.revision, {1}, wrong);
        }
        return one.count<StorageFailed>() > 0;
    }));
    EXPECT_EQ(one.first<StorageFailed>().error.code, Errc::integrity);
    EXPECT_EQ(one.count<PieceVerified>(), 0U);
}

TEST_F(Giving, WhatIsMissingIsToldWithWhoHoldsIt)
{
    const Content content = make_content({1'000'000});
    Node& holder = node();
    holder.add(content, std::make_shared<MemoryStorage>(content, MemoryStorage::Holds::all), {true, false, false, false});
    Node& one = node();
    one.add(content, std::make_shared<MemoryStorage>(content, MemoryStorage::Holds::nothing), std::vector<bool>(4, false), [](Torrent& torrent) {
        torrent.want = {false, true, true, false};
    });
    everybody_knows_everybody(content.revision);
    ASSERT_TRUE(until([&] { return one.session->lacking(content.revision).value_or(Lacking{}).peers.size() == 1; }));
    const Lacking lacking = *one.session->lacking(content.revision);
    EXPECT_EQ(lacking.peers.front(), holder.options.peer);
    EXPECT_EQ(lacking.nobodys, (std::vector<PieceIndex>{{1}, {2}}));
    EXPECT_TRUE(lacking.held.empty());
}

}  // namespace
}  // namespace shoal::swarm
