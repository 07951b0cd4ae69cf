// SHA-256 of many equal messages side by side: sixteen lanes of AVX-512 where the processor has them, OpenSSL where not. Pure; any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"

#include <cstddef>
#include <span>

namespace shoal::crypto {

// Whether this processor has AVX-512BW, and hash_messages() uses it.
bool has_lanes();

// digests[i] is that of the i-th `length` bytes of `messages`, which is digests.size() * length long; `length` is a multiple of 64.
// One core: 0.4 s/GB by lanes, 0.8 s/GB by OpenSSL with SHA-NI. The last few messages, too few to fill the lanes, go through OpenSSL.
void hash_messages(ConstBytes messages, std::size_t length, std::span<Digest> digests);

// The same without lanes, for any length: the fallback, and what tests compare with.
void hash_messages_singly(ConstBytes messages, std::size_t length, std::span<Digest> digests);

}  // namespace shoal::crypto
