// How much of the page cache a transfer may take. It counts in a container's memory, and dirty pages cannot be given back at once.
#pragma once

#include "common/core/result.hpp"
#include "common/files/file.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace shoal::peer {

enum class PageCache { automatic, keep, drop };

struct MemoryFacts {
    std::uint64_t available = 0;         // bytes; MemAvailable
    std::optional<std::uint64_t> limit;  // of the control group (v1 or v2), if any
};

// Pure: drop when the bytes are more than half of what is free, or would not fit into half of the limit.
bool should_drop(PageCache wish, std::uint64_t bytes, const MemoryFacts& memory);

MemoryFacts read_memory_facts();

// Ranges that were written or read lately; when they are more than the window, the oldest are written out and dropped from the cache. Any thread.
class PageCacheWindow {
public:
    explicit PageCacheWindow(bool drop, std::uint64_t window = 32U << 20U) : drop_{drop}, window_{window} {}
    void touched(const std::shared_ptr<const files::File>& file, std::uint64_t offset, std::uint64_t length, bool written);
    void flush();

private:
    struct Range {
        std::shared_ptr<const files::File> file;
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };
    static void drop(const Range& range);
    bool drop_;
    std::uint64_t window_;
    std::mutex mutex_;
    std::deque<Range> ranges_;
    std::uint64_t bytes_ = 0;
};

}  // namespace shoal::peer
