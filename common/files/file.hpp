// POSIX files with errors that name the path. Values and resources; any thread, one thread an object.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace shoal::files {

using Path = std::filesystem::path;

// An open descriptor, closed by the destructor.
class File {
public:
    File() = default;
    explicit File(int descriptor) : descriptor_{descriptor} {}
    File(File&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    File& operator=(File&& other) noexcept;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

// What tells that a file is still the one that was looked at.
struct FileState {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;
    bool operator==(const FileState&) const = default;
};

struct LookedAt {
    File file;
    FileState state;
};

enum class Create { if_missing, must_be_new };

Result<File> open_read(const Path& path);                              // O_RDONLY | O_CLOEXEC | O_NONBLOCK; refuses what is not a regular file
Result<LookedAt> open_and_look(const Path& path);                      // the same, and what it is
Result<File> open_write(const Path& path, Create create);              // O_RDWR, 0644 whatever the umask, group-writable where the directory is setgid
Result<File> open_temporary(const Path& temporary, const Path& path);  // must_be_new, on the way to `path`, which errors name
Result<FileState> state_of(const Path& path);                          // of the file itself; follows links
Result<FileState> state_of(const File& file, const Path& path);

// All of `out` from `offset`, or io "cut short" naming path, expected and found. `path` is for messages.
Result<void> read_exactly(const File& file, const Path& path, std::uint64_t offset, MutableBytes out);
void drop_cached(const File& file);                                             // a hint: the clean part of it leaves the page cache
void read_ahead(const File& file, std::uint64_t offset, std::uint64_t length);  // a hint: will be read soon
Result<void> write_all(const File& file, const Path& path, std::uint64_t offset, ConstBytes bytes);
Result<void> sync(const File& file, const Path& path);  // fsync
Result<void> sync_directory(const Path& directory);
Result<void> sync_filesystem(const Path& any_path_on_it);  // syncfs: one call for many files
bool in_shared_directory(const Path& path);                // its directory is setgid, as a pod's volumes are with fsGroup
Result<void> make_directories(const Path& path);           // 0755 whatever the umask, group-writable where the parent is setgid; synced by the caller
Result<void> make_synced_directories(const Path& path);    // the same, and the names of those that it made are synced
Result<void> rename(const Path& from, const Path& to);

// Whole content of at most `limit` bytes, else too_large.
Result<std::string> read_small(const Path& path, std::size_t limit);

// A temporary file in the same directory, synced, renamed over `path`, directory synced. Errors name `path`; what fails leaves nothing behind.
Result<void> write_atomically(const Path& path, std::string_view content);

}  // namespace shoal::files
