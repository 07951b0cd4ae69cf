#include "common/crypto/sha256.hpp"

#include "common/core/random.hpp"
#include "common/crypto/sha256_lanes.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstddef>
#include <vector>

namespace shoal::crypto {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, Random& random)
{
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

Digest by_openssl(ConstBytes bytes)
{
    Digest digest;
    EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), nullptr, EVP_sha256(), nullptr);
    return digest;
}

TEST(Sha256, GivesThePublishedDigests)
{
    EXPECT_EQ(to_hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(sha256(as_bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, IsTheSameHoweverTheBytesAreCut)
{
    Random random{7};
    Sha256 stream;
    for (int round = 0; round < 50; ++round) {
        const auto bytes = random_bytes(random() % 5000, random);
        ConstBytes rest = bytes;
        while (!rest.empty()) {
            const std::size_t taken = 1 + random() % rest.size();
            stream.update(rest.first(taken));
            rest = rest.subspan(taken);
        }
        ASSERT_EQ(stream.finish(), by_openssl(bytes)) << "round " << round;
    }
}

TEST(Sha256, StartsAnewAfterFinish)
{
    Sha256 stream;
    stream.update(as_bytes("something else"));
    (void)stream.finish();
    EXPECT_EQ(stream.finish(), sha256({}));
}

// Random numbers of messages of random lengths, so that lanes run full, half full, and too empty to be used.
TEST(HashMessages, AgreesWithOpenSslForAnyNumberAndLength)
{
    Random random{11};
    for (int round = 0; round < 200; ++round) {
        const std::size_t length = 64 * (1 + random() % 40);
        std::vector<Digest> digests(random() % 50);
        const auto bytes = random_bytes(length * digests.size(), random);
        hash_messages(bytes, length, digests);
        for (std::size_t i = 0; i < digests.size(); ++i)
            ASSERT_EQ(digests[i], by_openssl(ConstBytes{bytes}.subspan(i * length, length)))
                << "message " << i << " of " << digests.size() << ", length " << length;
    }
}

TEST(HashMessages, GivesTheSameWithoutLanes)
{
    Random random{13};
    for (const std::size_t count : {0U, 1U, 7U, 8U, 15U, 16U, 17U, 33U}) {
        const auto bytes = random_bytes(count * 128, random);
        std::vector<Digest> in_lanes(count);
        std::vector<Digest> singly(count);
        hash_messages(bytes, 128, in_lanes);
        hash_messages_singly(bytes, 128, singly);
        EXPECT_EQ(in_lanes, singly) << count;
    }
}

}  // namespace
}  // namespace shoal::crypto
