#include "common/swarm/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <new>

namespace shoal::swarm {
namespace {

constexpr std::size_t fewest_slots = 8;

std::shared_ptr<std::byte> map(std::size_t bytes)
{
    void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc{};  // at start-up; caught where a session is opened
    return {static_cast<std::byte*>(address), [bytes](std::byte* at) { ::munmap(at, bytes); }};
}

}  // namespace

Arena::Arena(std::size_t bytes) : taken_(std::max(fewest_slots, (bytes + slot_bytes - 1) / slot_bytes)), free_{taken_.size()}
{
    memory_ = map(taken_.size() * slot_bytes);
}

std::optional<std::size_t> Arena::take(std::size_t count)
{
    if (count > free_) return std::nullopt;
    std::size_t run = 0;
    for (std::size_t slot = 0; slot < taken_.size(); ++slot) {
        run = taken_[slot] ? 0 : run + 1;
        if (run < count) continue;
        const std::size_t first = slot + 1 - count;
        std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(first), count, true);
        free_ -= count;
        return first;
    }
    return std::nullopt;
}

void Arena::give_back(std::size_t first, std::size_t count)
{
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(first), count, false);
    free_ += count;
}

std::optional<std::size_t> Arena::slot_of(const void* address) const
{
    const auto* byte = static_cast<const std::byte*>(address);
    const std::less<> before;
    if (before(byte, memory_.get()) || !before(byte, memory_.get() + slots() * slot_bytes)) return std::nullopt;
    return static_cast<std::size_t>(byte - memory_.get()) / slot_bytes;
}

}  // namespace shoal::swarm
