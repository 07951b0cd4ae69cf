#include "common/objectstore/directory_lock.hpp"

#include "common/core/random.hpp"
#include "common/objectstore/directory_walk.hpp"

#include <thread>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

constexpr unsigned most_tries = 8;

// Moves a lock aside that nobody lets go of. What was moved is looked at again: between two waiters' decisions a new holder may have come, which gets its
// lock back; if a third was faster, that holder finds its lock gone and begins again.
void take_away(const files::Path& lock, const files::FileState& stale)
{
    const files::Path aside = lock.parent_path() / (std::string{temporary_prefix} + to_hex(random_id<Opaque<struct AsideTag, 8>>()));
    if (!files::rename(lock, aside)) return;
    const auto moved = files::state_of(aside);
    if (moved && moved.value() != stale) (void)::link(aside.c_str(), lock.c_str());
    ::unlink(aside.c_str());
}

// How long one and the same lock has been seen.
class Watch {
public:
    [[nodiscard]] bool stale(const files::FileState& seen, TimePoint now, Duration stale_after)
    {
        if (!(seen == seen_) || since_ == TimePoint{}) {
            seen_ = seen;
            since_ = now;
        }
        return now - since_ >= stale_after;
    }

private:
    files::FileState seen_;
    TimePoint since_{};
};

}  // namespace

Result<DirectoryLock> DirectoryLock::acquire(const files::Path& directory, Duration within, Duration stale_after)
{
    const files::Path lock = directory / lock_name;
    const TimePoint deadline = Clock::now() + within;
    Watch watch;
    while (true) {
        auto made = files::open_write(lock, files::Create::must_be_new);
        if (made) {
            BOOST_OUTCOME_TRY(state, files::state_of(made.value(), lock));
            return DirectoryLock{lock, std::move(made).value(), state};
        }
        if (made.error().code != Errc::exists) return failure(made.error());
        const auto seen = files::state_of(lock);
        if (seen && watch.stale(seen.value(), Clock::now(), stale_after)) {
            take_away(lock, seen.value());
            continue;
        }
        if (Clock::now() >= deadline)
            return failure(Errc::timed_out, "cannot lock: " + lock.string() + ": somebody else holds it", "remove it if no other program writes to this store");
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

Result<void> under_lock(const files::Path& directory, const std::function<Result<void>()>& prepare, const std::function<Result<void>()>& act)
{
    for (unsigned tries = 0; tries < most_tries; ++tries) {
        BOOST_OUTCOME_TRY(lock, DirectoryLock::acquire(directory));
        BOOST_OUTCOME_TRY(prepare());
        if (lock.still_held()) return act();
    }
    return failure(Errc::timed_out, "cannot keep the lock: " + (directory / lock_name).string() + ": taken away " + std::to_string(most_tries) + " times",
        "see who else writes to this store or removes its locks, and run it again");
}

DirectoryLock::DirectoryLock(files::Path path, files::File file, files::FileState state) : path_{std::move(path)}, file_{std::move(file)}, state_{state} {}

DirectoryLock::~DirectoryLock()
{
    if (file_.is_open() && still_held()) ::unlink(path_.c_str());
}

bool DirectoryLock::still_held() const
{
    const auto there = files::state_of(path_);
    return there && there.value().inode == state_.inode && there.value().device == state_.device;
}

}  // namespace shoal::objectstore
