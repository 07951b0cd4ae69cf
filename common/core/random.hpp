// Random numbers: a seeded generator for decisions, and fresh identities from the kernel.
#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <random>

namespace shoal {

// What decisions draw from: same seed, same choices. Not thread-safe.
using Random = std::mt19937_64;

// From getrandom(2); any thread.
void fill_random(std::uint8_t* out, std::size_t size);
std::uint64_t random_seed();

template <typename Id>
Id random_id()
{
    Id id;
    fill_random(id.bytes.data(), Id::size);
    return id;
}

}  // namespace shoal
