// Memory for a pack, or a stretch of one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace shoal::origin {

struct FreeMemory {
    void operator()(std::byte* memory) const { std::free(memory); }
};
// To be filled once, and in huge pages where the kernel has them: faults of ten thousand small ones cost as much as hashing what they hold.
using PackMemory = std::unique_ptr<std::byte[], FreeMemory>;  // NOLINT(modernize-avoid-c-arrays): its length is known when it runs
PackMemory memory_for_pack(std::uint64_t size);

}  // namespace shoal::origin
