// A file on its way into a directory store: hidden, synced, then named. Destroyed without a name it is gone. Errors name the target. Not thread-safe.
#pragma once

#include "common/core/result.hpp"
#include "common/files/file.hpp"

#include <cstdint>

namespace shoal::objectstore {

// How a name is given that nobody may have taken: what the filesystem can do is found out by trying, from the first on.
enum class Naming { by_link, by_rename, by_lock };

class Draft {
public:
    // Beside `target`, whose directory is made (and synced) where it lacks. Room for `size` bytes is claimed where the filesystem can: no_space.
    static Result<Draft> create(const files::Path& target, std::uint64_t size);
    Draft(Draft&& other) noexcept;
    Draft& operator=(Draft&&) = delete;
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft();

    Result<void> append(ConstBytes bytes);
    [[nodiscard]] std::uint64_t written() const { return written_; }
    // Synced; modified now, but later than `mtime_ns`.
    Result<files::FileState> finish(std::int64_t later_than_ns = 0);
    Result<void> name_if_absent(Naming naming);  // after finish(); exists
    Result<void> replace();                      // after finish()

private:
    Draft(files::Path target, files::Path hidden, files::File file);
    Result<void> rename_if_absent(Naming naming);
    Result<void> rename_under_lock();
    Result<void> named();

    files::Path target_;
    files::Path hidden_;
    files::File file_;
    std::uint64_t written_ = 0;
    bool pending_ = true;  // the hidden name is ours to take away
};

}  // namespace shoal::objectstore
