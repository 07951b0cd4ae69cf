// Who may replace a record in a directory, between processes and machines, where flock cannot be trusted. Blocking; any thread.
//
// The lock is a file made with O_EXCL, which NFS keeps atomic. A holder works for milliseconds; a lock that has not changed for `stale_after` belongs to the
// dead and is taken over. Ages are told by the waiter's own steady clock, so clocks of different machines do not matter. A holder that was stopped for that
// long finds the lock gone (still_held()) and begins again; only a stop between that look and the rename after it could lose an update.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/files/file.hpp"

#include <functional>

namespace shoal::objectstore {

class DirectoryLock {
public:
    // Waits for `within` at most, then timed_out naming the lock.
    static Result<DirectoryLock> acquire(
        const files::Path& directory, Duration within = std::chrono::seconds{60}, Duration stale_after = std::chrono::seconds{10});
    DirectoryLock(DirectoryLock&&) noexcept = default;
    DirectoryLock& operator=(DirectoryLock&&) = delete;
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();  // lets go

    [[nodiscard]] bool still_held() const;

private:
    DirectoryLock(files::Path path, files::File file, files::FileState state);
    files::Path path_;
    files::File file_;  // open, so that its inode is not given to another
    files::FileState state_;
};

// `prepare`, then `act`, under the directory's lock. Where the lock was taken away in between, all of it again, eight times at most; then timed_out naming it.
Result<void> under_lock(const files::Path& directory, const std::function<Result<void>()>& prepare, const std::function<Result<void>()>& act);

}  // namespace shoal::objectstore
