#include "common/objectstore/directory_draft.hpp"

#include "common/core/random.hpp"
#include "common/objectstore/directory_lock.hpp"
#include "common/objectstore/directory_walk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t abandoned_after_ns = 3600 * second_ns;

// Takes away what writers left that have not written for an hour, by the filesystem's own clock. Best effort: it hides from readers anyway.
void sweep(const files::Path& directory, std::int64_t now_ns)
{
    std::error_code trouble;
    for (std::filesystem::directory_iterator entry{directory, trouble}, end; !trouble && entry != end; entry.increment(trouble)) {
        if (!entry->path().filename().native().starts_with(temporary_prefix)) continue;
        const auto state = files::state_of(entry->path());
        if (state && state.value().mtime_ns < now_ns - abandoned_after_ns) ::unlink(entry->path().c_str());
    }
}

std::int64_t now_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * second_ns + now.tv_nsec;
}

void set_modified(const files::File& file, std::int64_t mtime_ns)
{
    const timespec time{mtime_ns / second_ns, mtime_ns % second_ns};
    const std::array times{time, time};
    (void)::futimens(file.descriptor(), times.data());
}

bool unsupported(int cause)
{
    return cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS || cause == EINVAL || cause == EMLINK || cause == EXDEV;
}

Error taken(const files::Path& target)
{
    return {Errc::exists, "cannot create: " + target.string() + ": is there already", {}};
}

}  // namespace

Result<Draft> Draft::create(const files::Path& target, std::uint64_t size)
{
    const files::Path directory = target.parent_path();
    BOOST_OUTCOME_TRY(files::make_synced_directories(directory));
    files::Path hidden = directory / (std::string{temporary_prefix} + to_hex(random_id<Opaque<struct DraftTag, 8>>()));
    BOOST_OUTCOME_TRY(file, files::open_temporary(hidden, target));
    Draft draft{target, std::move(hidden), std::move(file)};
    BOOST_OUTCOME_TRY(state, files::state_of(draft.file_, target));
    sweep(directory, state.mtime_ns);
    if (size > 0 && ::fallocate(draft.file_.descriptor(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) != 0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        return failure(system_error(errno, "cannot claim " + std::to_string(size) + " bytes", target.string()));
    return draft;
}

Draft::Draft(files::Path target, files::Path hidden, files::File file) : target_{std::move(target)}, hidden_{std::move(hidden)}, file_{std::move(file)} {}

Draft::Draft(Draft&& other) noexcept
    : target_{std::move(other.target_)},
      hidden_{std::move(other.hidden_)},
      file_{std::move(other.file_)},
      written_{other.written_},
      pending_{std::exchange(other.pending_, false)}
{}

Draft::~Draft()
{
    if (pending_) ::unlink(hidden_.c_str());
}

Result<void> Draft::append(ConstBytes bytes)
{
    BOOST_OUTCOME_TRY(files::write_all(file_, target_, written_, bytes));
    written_ += bytes.size();
    return success();
}

Result<files::FileState> Draft::finish(std::int64_t later_than_ns)
{
    set_modified(file_, std::max(now_ns(), later_than_ns + 1));
    BOOST_OUTCOME_TRY(state, files::state_of(file_, target_));
    // Some filesystems keep whole seconds, or two.
    for (std::int64_t step = second_ns; state.mtime_ns <= later_than_ns && step <= 2 * second_ns; step += second_ns) {
        set_modified(file_, later_than_ns + step);
        BOOST_OUTCOME_TRY(again, files::state_of(file_, target_));
        state = again;
    }
    BOOST_OUTCOME_TRY(files::sync(file_, target_));
    return state;
}

Result<void> Draft::name_if_absent(Naming naming)
{
    if (naming != Naming::by_link) return rename_if_absent(naming);
    if (::link(hidden_.c_str(), target_.c_str()) == 0) {
        ::unlink(hidden_.c_str());
        return named();
    }
    const int cause = errno;
    if (cause == EEXIST) {
        // Over NFS the answer to the first try may have been lost, and the second found our own file.
        struct stat facts {};
        if (::fstat(file_.descriptor(), &facts) != 0 || facts.st_nlink < 2) return failure(taken(target_));
        ::unlink(hidden_.c_str());
        return named();
    }
    if (unsupported(cause)) return rename_if_absent(Naming::by_rename);
    return failure(system_error(cause, "cannot create", target_.string()));
}

Result<void> Draft::replace()
{
    if (::rename(hidden_.c_str(), target_.c_str()) != 0) return failure(system_error(errno, "cannot replace", target_.string()));
    return named();
}

Result<void> Draft::rename_if_absent(Naming naming)
{
    if (naming == Naming::by_lock) return rename_under_lock();
    if (::renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) return named();
    if (errno == EEXIST) return failure(taken(target_));
    if (unsupported(errno)) return rename_under_lock();
    return failure(system_error(errno, "cannot create", target_.string()));
}

Result<void> Draft::rename_under_lock()
{
    const auto look = [this]() -> Result<void> {
        const auto there = files::state_of(target_);
        if (there) return failure(taken(target_));
        return there.error().code == Errc::not_found ? Result<void>{success()} : failure(there.error());
    };
    return under_lock(target_.parent_path(), look, [this] { return replace(); });
}

Result<void> Draft::named()
{
    pending_ = false;
    return files::sync_directory(target_.parent_path());
}

}  // namespace shoal::objectstore
