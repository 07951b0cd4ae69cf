#include "common/files/file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::files {
namespace {

constexpr mode_t file_mode = 0644;
constexpr mode_t shared_file_mode = 0664;

// Calls again what a signal broke off.
template <typename Call>
auto uninterrupted(Call call)
{
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

std::string kind_of(mode_t mode)
{
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

FileState state_from(const struct stat& facts)
{
    FileState state;
    state.size = static_cast<std::uint64_t>(facts.st_size);
    state.mtime_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
    state.inode = facts.st_ino;
    state.device = facts.st_dev;
    return state;
}

// A file where a directory should be: nothing can be there.
Error open_error(int cause, std::string_view what, const Path& path)
{
    return system_error(cause == ENOTDIR ? ENOENT : cause, what, path.string());
}

Error cut_short(const Path& path, std::uint64_t expected_end, std::uint64_t found_end)
{
    return {Errc::io,
        "file is cut short: " + path.string() + ": expected at least " + std::to_string(expected_end) + " bytes, found " + std::to_string(found_end), {}};
}

}  // namespace

File& File::operator=(File&& other) noexcept
{
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

File::~File()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<LookedAt> open_and_look(const Path& path)
{
    // Without O_NONBLOCK a FIFO in the way would hold us for ever.
    File file{uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); })};
    if (!file.is_open()) {
        if (errno == ENXIO) return failure(Errc::invalid, "not a regular file: " + path.string() + ": is a socket or a device");
        return failure(open_error(errno, "cannot open", path));
    }
    struct stat facts {};
    if (::fstat(file.descriptor(), &facts) != 0) return failure(system_error(errno, "cannot stat", path.string()));
    if (!S_ISREG(facts.st_mode)) return failure(Errc::invalid, "not a regular file: " + path.string() + ": is " + kind_of(facts.st_mode));
    return LookedAt{std::move(file), state_from(facts)};
}

Result<File> open_read(const Path& path)
{
    BOOST_OUTCOME_TRY(opened, open_and_look(path));
    return std::move(opened.file);
}

namespace {

// `name`: what errors call it.
Result<File> open_named(const Path& path, const Path& name, Create create)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | (create == Create::must_be_new ? O_EXCL : O_NONBLOCK);
    const mode_t mode = in_shared_directory(path) ? shared_file_mode : file_mode;
    File file{uninterrupted([&] { return ::open(path.c_str(), flags, mode); })};
    if (!file.is_open()) {
        if (errno == EEXIST) return failure(Errc::exists, "cannot create: " + name.string() + ": is there already");
        return failure(system_error(errno, "cannot open for writing", name.string()));
    }
    // The umask may have taken bits away. Filesystems without modes refuse, and need none.
    struct stat facts {};
    if (::fstat(file.descriptor(), &facts) != 0) return failure(system_error(errno, "cannot stat", name.string()));
    if (!S_ISREG(facts.st_mode)) return failure(Errc::invalid, "not a regular file: " + name.string() + ": is " + kind_of(facts.st_mode));
    if ((facts.st_mode & 07777U) != mode) (void)::fchmod(file.descriptor(), mode);
    return file;
}

}  // namespace

Result<File> open_write(const Path& path, Create create)
{
    return open_named(path, path, create);
}

Result<File> open_temporary(const Path& temporary, const Path& path)
{
    return open_named(temporary, path, Create::must_be_new);
}

Result<FileState> state_of(const Path& path)
{
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return failure(open_error(errno, "cannot stat", path));
    return state_from(facts);
}

Result<FileState> state_of(const File& file, const Path& path)
{
    struct stat facts {};
    if (::fstat(file.descriptor(), &facts) != 0) return failure(system_error(errno, "cannot stat", path.string()));
    return state_from(facts);
}

Result<void> read_exactly(const File& file, const Path& path, std::uint64_t offset, MutableBytes out)
{
    const std::uint64_t end = offset + out.size();
    while (!out.empty()) {
        const ssize_t got = uninterrupted([&] { return ::pread(file.descriptor(), out.data(), out.size(), static_cast<off_t>(offset)); });
        if (got < 0) return failure(system_error(errno, "cannot read", path.string()));
        if (got == 0) return failure(cut_short(path, end, offset));
        offset += static_cast<std::uint64_t>(got);
        out = out.subspan(static_cast<std::size_t>(got));
    }
    return success();
}

void drop_cached(const File& file)
{
    (void)::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

void read_ahead(const File& file, std::uint64_t offset, std::uint64_t length)
{
    (void)::posix_fadvise(file.descriptor(), static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_WILLNEED);
}

Result<void> write_all(const File& file, const Path& path, std::uint64_t offset, ConstBytes bytes)
{
    while (!bytes.empty()) {
        const ssize_t put = uninterrupted([&] { return ::pwrite(file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
        if (put < 0) return failure(system_error(errno, "cannot write", path.string()));
        offset += static_cast<std::uint64_t>(put);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return success();
}

Result<void> sync(const File& file, const Path& path)
{
    if (uninterrupted([&] { return ::fsync(file.descriptor()); }) != 0) return failure(system_error(errno, "cannot sync", path.string()));
    return success();
}

}  // namespace shoal::files
