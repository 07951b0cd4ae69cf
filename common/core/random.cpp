#include "common/core/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace shoal {

void fill_random(std::uint8_t* out, std::size_t size)
{
    while (size > 0) {
        const ssize_t got = ::getrandom(out, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) std::abort();  // no entropy source: identities could repeat
        out += got;
        size -= static_cast<std::size_t>(got);
    }
}

std::uint64_t random_seed()
{
    std::uint64_t seed = 0;
    fill_random(reinterpret_cast<std::uint8_t*>(&seed), sizeof seed);
    return seed;
}

}  // namespace shoal
