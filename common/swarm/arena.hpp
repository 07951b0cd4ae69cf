// The disk backend's memory: one region of slots of 256 KiB, handed out singly or as adjacent ones, so that a session's use of memory has one bound
// whatever it serves. Network thread; the bytes of a slot belong to whoever took it.
#pragma once

#include "common/core/bytes.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace shoal::swarm {

class Arena {
public:
    static constexpr std::size_t slot_bytes = std::size_t{256} << 10U;

    explicit Arena(std::size_t bytes);  // rounded up to slots, at least 8; pages cost memory once they are touched

    [[nodiscard]] std::size_t slots() const { return taken_.size(); }
    [[nodiscard]] std::size_t free() const { return free_; }
    // The first of `count` >= 1 adjacent free slots.
    std::optional<std::size_t> take(std::size_t count);
    void give_back(std::size_t first, std::size_t count);
    [[nodiscard]] std::byte* data(std::size_t slot) const { return memory_.get() + slot * slot_bytes; }
    [[nodiscard]] std::optional<std::size_t> slot_of(const void* address) const;  // none: not of this arena
    [[nodiscard]] std::shared_ptr<std::byte> memory() const { return memory_; }   // for jobs that may outlive the arena

private:
    std::shared_ptr<std::byte> memory_;
    std::vector<bool> taken_;
    std::size_t free_;
};

}  // namespace shoal::swarm
