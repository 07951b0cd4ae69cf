#include "common/origin/pack_memory.hpp"

#include <new>
#include <sys/mman.h>

namespace shoal::origin {
namespace {

constexpr std::uint64_t huge_page = 2U << 20U;

}  // namespace

PackMemory memory_for_pack(std::uint64_t size)
{
    const std::uint64_t whole = (size + huge_page - 1) / huge_page * huge_page;
    PackMemory memory{static_cast<std::byte*>(std::aligned_alloc(huge_page, whole))};
    if (!memory) throw std::bad_alloc{};
    (void)::madvise(memory.get(), whole, MADV_HUGEPAGE);  // a wish
    return memory;
}

}  // namespace shoal::origin
