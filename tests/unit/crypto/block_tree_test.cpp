#include "common/crypto/block_tree.hpp"

#include "common/core/random.hpp"
#include "common/crypto/content_hasher.hpp"
#include "common/crypto/sha256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace shoal::crypto {
namespace {

constexpr std::uint32_t piece_size = 256U << 10U;

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed)
{
    Random random{seed};
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

Digest join(const Digest& left, const Digest& right)
{
    Sha256 stream;
    stream.update(std::as_bytes(std::span{left.bytes}));
    stream.update(std::as_bytes(std::span{right.bytes}));
    return stream.finish();
}

// BEP 52 to the letter, and slowly: leaves padded with zeros to a power of two, then pairs.
Digest reference_root(std::vector<Digest> leaves, std::size_t width)
{
    leaves.resize(width);
    while (leaves.size() > 1) {
        std::vector<Digest> parents;
        for (std::size_t i = 0; i < leaves.size(); i += 2) parents.push_back(join(leaves[i], leaves[i + 1]));
        leaves = parents;
    }
    return leaves.front();
}

std::vector<Digest> reference_leaves(ConstBytes bytes)
{
    std::vector<Digest> leaves;
    for (std::size_t at = 0; at < bytes.size(); at += block_size) leaves.push_back(sha256(bytes.subspan(at, std::min(block_size, bytes.size() - at))));
    return leaves;
}

// Over the whole file: its pieces do not matter to the root.
Digest reference_file_root(ConstBytes bytes)
{
    return reference_root(reference_leaves(bytes), std::bit_ceil(blocks_in(bytes.size())));
}

TEST(HashBlocks, AgreesWithOneBlockAfterTheOtherForAnyLength)
{
    Random random{3};
    for (int round = 0; round < 40; ++round) {
        const auto bytes = random_bytes(1 + random() % (40 * block_size), random());
        std::vector<Digest> leaves(blocks_in(bytes.size()));
        hash_blocks(bytes, leaves);
        ASSERT_EQ(leaves, reference_leaves(bytes)) << bytes.size() << " bytes";
    }
}

TEST(HashBlocks, OfNothingAreNone)
{
    std::vector<Digest> leaves(blocks_in(0));
    hash_blocks({}, leaves);
    EXPECT_TRUE(leaves.empty());
}

TEST(TreeRoot, PadsWithZeroLeaves)
{
    const auto leaves = reference_leaves(random_bytes(64 * block_size, 5));
    for (const std::size_t count : {1U, 2U, 3U, 5U, 8U, 31U, 33U, 63U, 64U})
        for (std::size_t width = std::bit_ceil(count); width <= 256; width *= 2)
            ASSERT_EQ(tree_root({leaves.data(), count}, width), reference_root({leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(count)}, width))
                << count << " leaves in " << width;
}

TEST(TreeRoot, OfOneBlockIsItsDigest)
{
    const Digest leaf = sha256(as_bytes("x"));
    EXPECT_EQ(tree_root({&leaf, 1}, 1), leaf);
}

TEST(TreeWidth, IsAPiecesBlocksOnlyInAFileOfSeveralPieces)
{
    EXPECT_EQ(tree_width(1, piece_size), 1U);
    EXPECT_EQ(tree_width(3 * block_size, piece_size), 4U);
    EXPECT_EQ(tree_width(piece_size, piece_size), 16U);
    EXPECT_EQ(tree_width(piece_size + 1, piece_size), 16U);
}

TEST(PiecesRoot, DoesNotDependOnThePieceSize)
{
    for (const std::size_t size : {std::size_t{1}, block_size, block_size + 1, std::size_t{piece_size} - 1, std::size_t{piece_size},
             std::size_t{piece_size} + 1, std::size_t{5} * piece_size + 77}) {
        const auto bytes = random_bytes(size, size);
        for (const std::uint32_t pieces_of : {piece_size, 2 * piece_size, 64 * piece_size}) {
            TreeHasher hasher{size, pieces_of};
            hasher.update(bytes);
            ASSERT_EQ(hasher.finish().pieces_root, reference_file_root(bytes)) << size << " bytes in pieces of " << pieces_of;
        }
    }
}

TEST(PieceDigest, IsWhatTheLayerHolds)
{
    const auto bytes = random_bytes(3 * piece_size + 5 * block_size + 9, 1);
    TreeHasher hasher{bytes.size(), piece_size};
    hasher.update(bytes);
    const TreeDigest tree = hasher.finish();
    const std::size_t width = tree_width(bytes.size(), piece_size);
    ASSERT_EQ(tree.layer.size(), 4U);
    for (std::size_t piece = 0; piece < 4; ++piece) {
        const std::size_t at = piece * piece_size;
        EXPECT_EQ(tree.layer[piece], piece_digest(ConstBytes{bytes}.subspan(at, std::min<std::size_t>(piece_size, bytes.size() - at)), width)) << piece;
    }
    EXPECT_EQ(root_of_layer(tree.layer, piece_size), tree.pieces_root);
}

TEST(ContentHasher, GivesTheSameHoweverTheBytesAreCut)
{
    const auto bytes = random_bytes(2 * piece_size + 12345, 2);
    Random random{4};
    for (int round = 0; round < 20; ++round) {
        ContentHasher hasher{bytes.size(), piece_size};
        ConstBytes rest = bytes;
        while (!rest.empty()) {
            const std::size_t taken = 1 + random() % std::min<std::size_t>(rest.size(), 400'000);
            hasher.update(rest.first(taken));
            rest = rest.subspan(taken);
        }
        const ContentDigest found = hasher.finish();
        ASSERT_EQ(found.sha256, sha256(bytes));
        ASSERT_EQ(found.tree.pieces_root, reference_file_root(bytes));
        ASSERT_EQ(found.tree.layer.size(), 3U);
    }
}

TEST(ContentHasher, OfOneBlockAndALittleMoreAgreesWithTheTreeAlone)
{
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, block_size - 1, block_size, block_size + 1}) {
        const auto bytes = random_bytes(size, size);
        ContentHasher both{size, piece_size};
        TreeHasher tree{size, piece_size};
        both.update(bytes);
        tree.update(bytes);
        const ContentDigest found = both.finish();
        EXPECT_EQ(found.tree, tree.finish()) << size;
        EXPECT_EQ(found.sha256, sha256(bytes)) << size;
    }
}

TEST(ContentHasher, OfNothingHasNoTree)
{
    ContentHasher hasher{0, piece_size};
    const ContentDigest found = hasher.finish();
    EXPECT_TRUE(found.tree.layer.empty());
    EXPECT_TRUE(found.tree.pieces_root.is_zero());
    EXPECT_EQ(found.sha256, sha256({}));
}

}  // namespace
}  // namespace shoal::crypto
