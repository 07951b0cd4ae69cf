// How much of the page cache a transfer may take. It counts in a container's memory, and dirty pages cannot be given back at once.
#pragma once

#include "common/core/result.hpp"
#include "common/files/file.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace shoal::peer {

enum class PageCache { automatic, keep, drop };

struct MemoryFacts {
    std::uint64_t available = 0;         // bytes; MemAvailable
    std::optional<std::uint64_t> limit;  // of the control group (v1 or v2), if any
};

// Pure: drop when the bytes are more than half of what is free, or would not fit into half of the limit.
bool should_drop(PageCache wish, std::uint64_t bytes, const MemoryFacts& memory);

MemoryFacts read_memory_facts();

// A part of a file that was just written or read.
struct TouchedRange {
    std::shared_ptr<const files::File> file;
    files::Path path;  // for messages
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    bool written = false;
};

// Ranges that were written or read lately; when they are more than the window, the oldest are written out and dropped from the cache. Any thread.
class PageCacheWindow {
public:
    explicit PageCacheWindow(bool drop, std::uint64_t window = 32U << 20U) : drop_{drop}, window_{window} {}
    // Fails when bytes were lost: the first failure to write out, as far as it is known.
    Result<void> touched(TouchedRange range);
    // The same when nobody is writing out any more. The kernel tells a failure once, here: a later fsync of the same file succeeds, though its bytes are lost.
    [[nodiscard]] Result<void> written_out() const;

private:
    void drop(const TouchedRange& range);
    void write_out(const TouchedRange& range, unsigned how);
    [[nodiscard]] Result<void> known() const;
    bool drop_;
    std::uint64_t window_;
    mutable std::shared_mutex writing_out_;
    mutable std::mutex mutex_;
    std::deque<TouchedRange> ranges_;
    std::uint64_t bytes_ = 0;
    std::optional<Error> lost_;
};

}  // namespace shoal::peer
