#include "common/files/file.hpp"

#include "common/core/random.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::files {
namespace {

Result<File> open_directory(const Path& directory)
{
    File file{::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!file.is_open()) return failure(system_error(errno, "cannot open directory", directory.string()));
    return file;
}

Result<void> make_directory(const Path& path)
{
    if (::mkdir(path.c_str(), 0755) != 0) {
        const int cause = errno;
        struct stat facts {};
        if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return success();  // also where mkdir says EROFS or EACCES of what is there
        if (cause == EEXIST)                                                                // a file, or a link that leads nowhere or in a circle
            return failure(
                Errc::not_allowed, "cannot create directory: " + path.string() + ": is there, and is not a directory", "remove it, or name another place");
        return failure(system_error(cause, "cannot create directory", path.string()));
    }
    (void)::chmod(path.c_str(), in_shared_directory(path) ? 02775 : 0755);  // the umask may have taken bits away; filesystems without modes need none
    return success();
}

Path temporary_beside(const Path& path)
{
    return path.parent_path() / (".shoal-tmp-" + to_hex(random_id<Opaque<struct TemporaryTag, 8>>()));
}

// The content of `path`, written to `temporary`.
Result<void> write_synced(const Path& temporary, const Path& path, std::string_view content)
{
    BOOST_OUTCOME_TRY(file, open_temporary(temporary, path));
    BOOST_OUTCOME_TRY(write_all(file, path, 0, as_bytes(content)));
    return sync(file, path);
}

}  // namespace

bool in_shared_directory(const Path& path)
{
    struct stat facts {};
    const Path above = path.parent_path();
    return ::stat(above.empty() ? "." : above.c_str(), &facts) == 0 && (facts.st_mode & S_ISGID) != 0;
}

Result<void> sync_directory(const Path& directory)
{
    BOOST_OUTCOME_TRY(file, open_directory(directory));
    // Some filesystems (FUSE, SMB) cannot sync a directory and say EINVAL: they keep names in order by themselves or not at all.
    if (::fsync(file.descriptor()) != 0 && errno != EINVAL && errno != ENOTSUP)
        return failure(system_error(errno, "cannot sync directory", directory.string()));
    return success();
}

Result<void> sync_filesystem(const Path& any_path_on_it)
{
    const File file{::open(any_path_on_it.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file.is_open()) return failure(system_error(errno, "cannot open", any_path_on_it.string()));
    if (::syncfs(file.descriptor()) != 0) return failure(system_error(errno, "cannot sync the filesystem of", any_path_on_it.string()));
    return success();
}

Result<void> make_directories(const Path& path)
{
    struct stat facts {};
    if (path.empty() || (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))) return success();
    Path made;
    for (const Path& part : path) {
        made /= part;
        if (part.empty() || part == "/") continue;
        BOOST_OUTCOME_TRY(make_directory(made));
    }
    return success();
}

Result<void> make_synced_directories(const Path& path)
{
    std::error_code none;
    if (path.empty() || std::filesystem::is_directory(path, none)) return success();
    BOOST_OUTCOME_TRY(make_synced_directories(path.parent_path()));
    BOOST_OUTCOME_TRY(make_directories(path));
    return path.has_parent_path() ? sync_directory(path.parent_path()) : success();
}

Result<void> rename(const Path& from, const Path& to)
{
    if (::rename(from.c_str(), to.c_str()) != 0) return failure(system_error(errno, "cannot rename", from.string() + " to " + to.string()));
    return success();
}

Result<std::string> read_small(const Path& path, std::size_t limit)
{
    BOOST_OUTCOME_TRY(file, open_read(path));
    BOOST_OUTCOME_TRY(state, state_of(file, path));
    if (state.size > limit)
        return failure(Errc::too_large,
            "file is too large: " + path.string() + ": expected at most " + std::to_string(limit) + " bytes, found " + std::to_string(state.size));
    std::string content(state.size, '\0');
    BOOST_OUTCOME_TRY(read_exactly(file, path, 0, std::as_writable_bytes(std::span{content})));
    return content;
}

Result<void> write_atomically(const Path& path, std::string_view content)
{
    const Path temporary = temporary_beside(path);
    Result<void> written = write_synced(temporary, path, content);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = failure(system_error(errno, "cannot replace", path.string()));
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
    }
    return sync_directory(path.parent_path());
}

}  // namespace shoal::files
