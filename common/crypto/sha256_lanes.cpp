#include "common/crypto/sha256_lanes.hpp"

#include "common/crypto/sha256.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
// GCC 12 takes the deliberately undefined operands of its own intrinsics for mistakes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace shoal::crypto {
namespace {

constexpr std::size_t lane_count = 16;
constexpr std::size_t chunk_size = 64;  // what SHA-256 compresses at once

#if defined(__x86_64__)

// Each function of the kernel says so by itself; the rest of the program stays runnable on any x86-64.
#define SHOAL_LANES __attribute__((target("avx512f,avx512bw")))

using Lanes = __m512i;  // one 32-bit word of each of sixteen messages
using Messages = std::array<const std::byte*, lane_count>;
// Words of sixteen messages stand in C arrays: as a template's argument the vector type would lose its alignment.
// NOLINTBEGIN(modernize-avoid-c-arrays)

// FIPS 180-4, 4.2.2 and 5.3.3
constexpr std::array<std::uint32_t, 64> round_constants{0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138,
    0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
    0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr std::array<std::uint32_t, 8> initial_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

SHOAL_LANES inline Lanes add(Lanes a, Lanes b)
{
    return _mm512_add_epi32(a, b);
}
SHOAL_LANES inline Lanes exclusive_or(Lanes a, Lanes b, Lanes c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0x96);
}
SHOAL_LANES inline Lanes choose(Lanes a, Lanes b, Lanes c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xca);
}
SHOAL_LANES inline Lanes majority(Lanes a, Lanes b, Lanes c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xe8);
}
SHOAL_LANES inline Lanes everywhere(std::uint32_t word)
{
    return _mm512_set1_epi32(static_cast<int>(word));
}

// Sixteen rows of sixteen words become sixteen columns: by words, by pairs, by quarters.
SHOAL_LANES inline void transpose(Lanes rows[16])
{
    Lanes t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        rows[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        rows[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        rows[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        rows[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
        const Lanes even_low = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x88);
        const Lanes odd_low = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xdd);
        const Lanes even_high = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0x88);
        const Lanes odd_high = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0xdd);
        t[i] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
        t[i + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
        t[i + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
    }
    std::memcpy(rows, t, sizeof t);
}

// FIPS 180-4, 4.1.2 and 6.2.2
SHOAL_LANES inline Lanes schedule_sigma0(Lanes x)
{
    return exclusive_or(_mm512_ror_epi32(x, 7), _mm512_ror_epi32(x, 18), _mm512_srli_epi32(x, 3));
}
SHOAL_LANES inline Lanes schedule_sigma1(Lanes x)
{
    return exclusive_or(_mm512_ror_epi32(x, 17), _mm512_ror_epi32(x, 19), _mm512_srli_epi32(x, 10));
}

SHOAL_LANES inline void round(Lanes v[8], Lanes word, std::uint32_t constant)
{
    const Lanes e = v[4];
    const Lanes a = v[0];
    const Lanes sum1 = exclusive_or(_mm512_ror_epi32(e, 6), _mm512_ror_epi32(e, 11), _mm512_ror_epi32(e, 25));
    const Lanes sum0 = exclusive_or(_mm512_ror_epi32(a, 2), _mm512_ror_epi32(a, 13), _mm512_ror_epi32(a, 22));
    const Lanes t1 = add(add(v[7], sum1), add(choose(e, v[5], v[6]), add(word, everywhere(constant))));
    const Lanes t2 = add(sum0, majority(a, v[1], v[2]));
    v[7] = v[6], v[6] = v[5], v[5] = e, v[4] = add(v[3], t1);
    v[3] = v[2], v[2] = v[1], v[1] = a, v[0] = add(t1, t2);
}

SHOAL_LANES inline void compress(Lanes state[8], Lanes words[16])
{
    Lanes v[8];
    std::memcpy(v, state, sizeof v);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) round(v, words[i], round_constants[i]);
    for (std::size_t base = 16; base < 64; base += 16) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < 16; ++i) {
            const Lanes earlier = add(schedule_sigma0(words[(i + 1) & 15]), schedule_sigma1(words[(i + 14) & 15]));
            words[i] = add(add(words[i], words[(i + 9) & 15]), earlier);
            round(v, words[i], round_constants[base + i]);
        }
    }
    for (int i = 0; i < 8; ++i) state[i] = add(state[i], v[i]);
}

SHOAL_LANES inline void load(const Messages& messages, std::size_t at, Lanes words[16])
{
    const Lanes big_endian = _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
    for (std::size_t i = 0; i < lane_count; ++i) words[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(messages[i] + at), big_endian);
    transpose(words);
}

// The chunk that ends a message of whole chunks: a one bit, zeros, and the length in bits.
SHOAL_LANES inline void pad(std::size_t length, Lanes words[16])
{
    for (int i = 0; i < 16; ++i) words[i] = _mm512_setzero_si512();
    words[0] = everywhere(0x80000000U);
    words[14] = everywhere(static_cast<std::uint32_t>(std::uint64_t{length} >> 29U));
    words[15] = everywhere(static_cast<std::uint32_t>(std::uint64_t{length} << 3U));
}

SHOAL_LANES void store(const Lanes state[8], Digest* out)
{
    alignas(64) std::array<std::array<std::uint32_t, lane_count>, 8> columns;
    for (std::size_t i = 0; i < 8; ++i) _mm512_store_si512(columns[i].data(), state[i]);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
        for (std::size_t i = 0; i < 8; ++i) {
            const std::uint32_t word = __builtin_bswap32(columns[i][lane]);
            std::memcpy(out[lane].bytes.data() + 4 * i, &word, sizeof word);
        }
    }
}

SHOAL_LANES void hash_sixteen(const Messages& messages, std::size_t length, Digest* out)
{
    Lanes state[8];
    Lanes words[16];
    for (std::size_t i = 0; i < 8; ++i) state[i] = everywhere(initial_state[i]);
    for (std::size_t at = 0; at < length; at += chunk_size) {
        load(messages, at, words);
        compress(state, words);
    }
    pad(length, words);
    compress(state, words);
    store(state, out);
}

// NOLINTEND(modernize-avoid-c-arrays)

bool detect_lanes()
{
    return static_cast<bool>(__builtin_cpu_supports("avx512f")) && static_cast<bool>(__builtin_cpu_supports("avx512bw"));
}

// How few messages are still faster in lanes, most of them idle, than one after the other: half of them, as a lane takes half the time.
constexpr std::size_t least_in_lanes = 8;

// Hashes as many messages as lanes pay for; returns how many.
std::size_t hash_in_lanes(ConstBytes messages, std::size_t length, std::span<Digest> digests)
{
    std::size_t done = 0;
    while (digests.size() - done >= least_in_lanes) {
        const std::size_t count = std::min(lane_count, digests.size() - done);
        Messages lanes;
        for (std::size_t i = 0; i < lane_count; ++i) lanes[i] = messages.data() + (done + std::min(i, count - 1)) * length;
        std::array<Digest, lane_count> out;
        hash_sixteen(lanes, length, out.data());
        std::copy_n(out.begin(), count, digests.begin() + static_cast<std::ptrdiff_t>(done));
        done += count;
    }
    return done;
}

#else

bool detect_lanes()
{
    return false;
}
std::size_t hash_in_lanes(ConstBytes, std::size_t, std::span<Digest>)
{
    return 0;
}

#endif

}  // namespace

bool has_lanes()
{
    static const bool found = detect_lanes();
    return found;
}

void hash_messages(ConstBytes messages, std::size_t length, std::span<Digest> digests)
{
    const std::size_t done = has_lanes() ? hash_in_lanes(messages, length, digests) : 0;
    hash_messages_singly(messages.subspan(done * length), length, digests.subspan(done));
}

void hash_messages_singly(ConstBytes messages, std::size_t length, std::span<Digest> digests)
{
    if (digests.empty()) return;
    Sha256 stream;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        stream.update(messages.subspan(i * length, length));
        digests[i] = stream.finish();
    }
}

}  // namespace shoal::crypto
