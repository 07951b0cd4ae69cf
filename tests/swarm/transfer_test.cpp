// Models move between real sessions on loopback.
#include "tests/swarm/nodes.hpp"

namespace shoal::swarm {
namespace {

const Content& small()
{
    static const Content content = make_content({3'000'000, 1000, 500'000});
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
    const TorrentStats stats = to.session->stats(small().revision);
    EXPECT_EQ(stats.bytes_have, small().bytes());
    EXPECT_EQ(stats.from_origin, small().bytes());
    EXPECT_EQ(stats.from_peers, 0U);
    EXPECT_EQ(from.storage->reads(), small().pieces.size());  // each piece once
}

}  // namespace
}  // namespace shoal::swarm
