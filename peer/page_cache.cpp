#include "peer/page_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <vector>

namespace shoal::peer {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t no_limit = std::uint64_t{1} << 60U;  // v1 says "none" by a number near 2^63
constexpr std::size_t most_ranges = 128;                     // each keeps a descriptor open

std::optional<std::uint64_t> read_number(const std::string& path)
{
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (file >> value && value < no_limit) return value;
    return std::nullopt;
}

void lower(std::optional<std::uint64_t>& limit, std::optional<std::uint64_t> other)
{
    if (other) limit = limit ? std::min(*limit, *other) : *other;
}

// The limits of a group and of those above it.
void lower_by_group(std::optional<std::uint64_t>& limit, const std::string& mount, std::string group, const std::string& name)
{
    for (;;) {
        lower(limit, read_number(std::string{mount}.append(group).append("/").append(name)));
        if (group.empty() || group == "/") return;
        group.erase(group.rfind('/'));
    }
}

}  // namespace

bool should_drop(PageCache wish, std::uint64_t bytes, const MemoryFacts& memory)
{
    if (wish != PageCache::automatic) return wish == PageCache::drop;
    return bytes > memory.available / 2 || (memory.limit && bytes > *memory.limit / 2);
}

MemoryFacts read_memory_facts()
{
    MemoryFacts facts;
    std::ifstream meminfo("/proc/meminfo");
    std::string label;
    std::uint64_t amount = 0;
    std::string unit;
    while (meminfo >> label >> amount) {
        std::getline(meminfo, unit);
        if (label == "MemAvailable:") facts.available = amount * kib;
    }
    std::ifstream groups("/proc/self/cgroup");  // "<id>:<controllers>:<path>"
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string path = line.substr(second + 1);
        if (controllers == ",,") lower_by_group(facts.limit, "/sys/fs/cgroup", path, "memory.max");
        if (controllers.find(",memory,") != std::string::npos) lower_by_group(facts.limit, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    }
    return facts;
}

Result<void> PageCacheWindow::touched(TouchedRange range)
{
    if (!drop_ || range.length == 0) return success();
    if (range.written) write_out(range, SYNC_FILE_RANGE_WRITE);
    std::vector<TouchedRange> old;
    {
        const std::lock_guard lock{mutex_};
        bytes_ += range.length;
        ranges_.push_back(std::move(range));
        while (bytes_ > window_ || ranges_.size() > most_ranges) {
            bytes_ -= ranges_.front().length;
            old.push_back(std::move(ranges_.front()));
            ranges_.pop_front();
        }
    }
    for (const TouchedRange& oldest : old) drop(oldest);  // waits for the disk: that is what holds the writers back
    return known();
}

Result<void> PageCacheWindow::written_out() const
{
    const std::unique_lock nobody{writing_out_};
    return known();
}

Result<void> PageCacheWindow::known() const
{
    const std::lock_guard lock{mutex_};
    return lost_ ? Result<void>{failure(*lost_)} : success();
}

// Filesystems without these calls keep their pages; the kernel then takes them back as it can.
void PageCacheWindow::drop(const TouchedRange& range)
{
    if (range.written) write_out(range, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)::posix_fadvise(range.file->descriptor(), static_cast<off_t>(range.offset), static_cast<off_t>(range.length), POSIX_FADV_DONTNEED);
}

void PageCacheWindow::write_out(const TouchedRange& range, unsigned how)
{
    const std::shared_lock busy{writing_out_};
    if (::sync_file_range(range.file->descriptor(), static_cast<off64_t>(range.offset), static_cast<off64_t>(range.length), how) == 0) return;
    if (errno == ENOSYS || errno == EINVAL || errno == ESPIPE || errno == EOPNOTSUPP) return;
    const int cause = errno;
    const std::lock_guard lock{mutex_};
    if (!lost_) lost_ = system_error(cause, "cannot write out", range.path.string());
}

}  // namespace shoal::peer
