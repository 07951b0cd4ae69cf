#include "common/policy/rendezvous.hpp"

#include "common/core/random.hpp"

#include <gtest/gtest.h>

namespace shoal::policy {
namespace {

constexpr std::uint32_t pieces = 3000;

std::vector<PeerId> peers(std::size_t count)
{
    Random random{5};
    std::vector<PeerId> found(count);
    for (PeerId& peer : found)
        for (std::uint8_t& byte : peer.bytes) byte = static_cast<std::uint8_t>(random());
    return found;
}

TEST(Rendezvous, EachPieceIsExactlyOnesAndTheSharesAreAboutEqual)
{
    const auto all = peers(3);
    std::vector<int> owners(pieces);
    for (const PeerId& peer : all) {
        const auto share = share_of(peer, all, pieces);
        const auto count = std::count(share.begin(), share.end(), true);
        EXPECT_GT(count, 900);
        EXPECT_LT(count, 1100);
        for (std::uint32_t piece = 0; piece < pieces; ++piece) owners[piece] += share[piece] ? 1 : 0;
    }
    EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), pieces);
}

TEST(Rendezvous, WhenOneGoesOnlyItsPiecesChangeHands)
{
    const auto all = peers(3);
    const auto before = share_of(all[0], all, pieces);
    const auto after = share_of(all[0], {all[1]}, pieces);
    const auto gone = share_of(all[2], all, pieces);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        EXPECT_TRUE(after[piece] || !before[piece]);
        EXPECT_TRUE(gone[piece] || before[piece] || !after[piece]);
    }
}

TEST(Rendezvous, WhoIsAloneHasAll)
{
    const auto one = peers(1);
    EXPECT_EQ(share_of(one[0], {}, 10), std::vector<bool>(10, true));
    EXPECT_EQ(share_of(one[0], one, 10), std::vector<bool>(10, true));
}

TEST(Rendezvous, ABidIsTheSameOnAllMachines)
{
    PeerId counted;
    for (std::size_t i = 0; i < counted.bytes.size(); ++i) counted.bytes[i] = static_cast<std::uint8_t>(i);
    EXPECT_EQ(bid(counted, {5}), 0x9e3ffc2e53c026a2U);
}

}  // namespace
}  // namespace shoal::policy
