#include "common/swarm/blame.hpp"

#include "common/core/random.hpp"

#include <gmock/gmock.h>

#include <set>

namespace shoal::swarm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

PeerId peer(unsigned n)
{
    PeerId id;
    id.bytes[0] = static_cast<std::uint8_t>(n);
    return id;
}

// One digest a block; equal numbers are equal bytes.
std::vector<Digest> leaves(std::initializer_list<unsigned> content)
{
    std::vector<Digest> digests;
    for (const unsigned n : content) digests.emplace_back().bytes[0] = static_cast<std::uint8_t>(n);
    return digests;
}

class BlameTest : public testing::Test {
protected:
    // Who sent each block of an attempt; zero: not known.
    void attempt(std::uint32_t piece, std::initializer_list<unsigned> senders)
    {
        std::uint32_t block = 0;
        for (const unsigned sender : senders) {
            if (sender != 0) blame.sent({piece}, block, peer(sender));
            ++block;
        }
    }
    std::vector<PeerId> wrong(std::uint32_t piece, std::initializer_list<unsigned> content) { return blame.judged({piece}, false, leaves(content)); }
    std::vector<PeerId> right(std::uint32_t piece, std::initializer_list<unsigned> content) { return blame.judged({piece}, true, leaves(content)); }

    Blame blame;
};

TEST_F(BlameTest, TheOnlySenderOfAWrongPieceLied)
{
    attempt(0, {1, 1, 1});
    EXPECT_THAT(wrong(0, {1, 2, 9}), ElementsAre(peer(1)));
}

TEST_F(BlameTest, WithASenderThatIsNotKnownTheOtherMayBeHonest)
{
    attempt(0, {1, 0, 1});
    EXPECT_THAT(wrong(0, {1, 9, 3}), IsEmpty());
    attempt(1, {1, 1, 0});
    EXPECT_THAT(wrong(1, {1, 2, 9}), IsEmpty());
}

TEST_F(BlameTest, AmongSeveralItIsTheOneWhoseBlockDiffersFromTheRightPiece)
{
    attempt(0, {1, 2, 3});
    EXPECT_THAT(wrong(0, {1, 9, 3}), IsEmpty());
    attempt(0, {1, 3, 3});
    EXPECT_THAT(right(0, {1, 2, 3}), ElementsAre(peer(2)));
}

TEST_F(BlameTest, EveryWrongAttemptCounts)
{
    attempt(0, {1, 2, 3});
    wrong(0, {9, 2, 3});
    attempt(0, {4, 5, 3});
    wrong(0, {1, 8, 3});
    attempt(0, {3, 3, 3});
    EXPECT_THAT(right(0, {1, 2, 3}), UnorderedElementsAre(peer(1), peer(5)));
}

TEST_F(BlameTest, WhatAnAttemptOfOnePieceProvesIsNotHeldAgainstAnother)
{
    attempt(0, {1, 2});
    wrong(0, {9, 2});
    attempt(1, {1, 2});
    EXPECT_THAT(right(1, {5, 6}), IsEmpty());
}

TEST_F(BlameTest, AnOldAttemptsSendersAreNotTheNewOnes)
{
    attempt(0, {1, 2});
    wrong(0, {9, 2});
    attempt(0, {3, 3});
    EXPECT_THAT(wrong(0, {1, 7}), ElementsAre(peer(3)));  // alone this time
}

TEST_F(BlameTest, WhoTakesPartInManyWrongPiecesIsTrustedNoMoreBeforeThereIsProof)
{
    std::vector<PeerId> banned;
    std::uint32_t piece = 0;
    for (; banned.empty() && piece < 10; ++piece) {
        attempt(piece, {1, 10 + piece});
        banned = wrong(piece, {9, 1});
    }
    EXPECT_THAT(banned, ElementsAre(peer(1)));  // and none of those who were there once
    EXPECT_EQ(piece, 4U);
}

TEST_F(BlameTest, RightPiecesMakeUpForWrongOnesAndNotWithoutEnd)
{
    for (std::uint32_t piece = 100; piece < 200; ++piece) {
        attempt(piece, {1, 2});
        EXPECT_THAT(right(piece, {1, 2}), IsEmpty());
    }
    std::uint32_t wrongs = 0;
    for (bool banned = false; !banned && wrongs < 50; ++wrongs) {
        attempt(wrongs, {1, 10 + wrongs});
        banned = !wrong(wrongs, {9, 1}).empty();
    }
    EXPECT_GT(wrongs, 4U);
    EXPECT_LE(wrongs, 8U);
}

TEST_F(BlameTest, APieceWithoutBlocksOrWithOthersLeavesBlamesNobody)
{
    EXPECT_THAT(wrong(0, {}), IsEmpty());
    EXPECT_THAT(right(0, {1, 2, 3}), IsEmpty());
    attempt(1, {1, 2});
    wrong(1, {});  // nothing is known of what they sent
    EXPECT_THAT(right(1, {1, 2}), IsEmpty());
}

// A liar among honest senders, at random: whoever is proven is the liar. Each piece begins without history, so that nobody's trust is used up.
TEST_F(BlameTest, NobodyHonestIsProvenALiar)
{
    Random random{7};
    const auto dice = [&random](unsigned sides) { return std::uniform_int_distribution<unsigned>{0, sides - 1}(random); };
    for (std::uint32_t piece = 0; piece < 2000; ++piece) {
        Blame fresh;
        const unsigned liar = 1 + dice(6);
        for (int again = 0; again < 2; ++again) {
            bool lied = false;
            std::set<unsigned> senders;
            std::vector<Digest> received;
            for (std::uint32_t block = 0; block < 4; ++block) {
                const unsigned sender = 1 + dice(6);
                const bool lies = sender == liar && dice(2) == 0;
                lied = lied || lies;
                senders.insert(sender);
                fresh.sent({piece}, block, peer(sender));
                received.emplace_back().bytes[0] = static_cast<std::uint8_t>(lies ? 200 : block);
            }
            for (const PeerId& guilty : fresh.judged({piece}, !lied, received)) EXPECT_EQ(guilty, peer(liar)) << piece;
        }
    }
}

}  // namespace
}  // namespace shoal::swarm
