#include "peer/claim.hpp"

#include "common/core/random.hpp"
#include "peer/process_identity.hpp"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::peer {
namespace {

constexpr std::string_view owner_prefix = "owner.";
constexpr std::string_view fresh_prefix = "new.";
constexpr std::size_t max_record = 4096;

std::string record_of(const OwnerId& id, const ProcessIdentity& self, std::uint64_t count)
{
    std::ostringstream text;
    text << "owner " << to_hex(id) << "\nboot " << self.boot << "\nnamespace " << self.pid_namespace << "\npid " << self.pid << "\nstart " << self.start
         << "\ncount " << count << "\n";
    return text.str();
}

// The identity in a record that its owner wrote himself; of any other content nothing is believed.
std::optional<ProcessIdentity> identity_in(const std::string& record, const std::string& owner)
{
    std::istringstream text{record};
    ProcessIdentity found;
    std::string label;
    std::string written_by;
    if (text >> label >> written_by && written_by == owner &&
        text >> label >> found.boot >> label >> found.pid_namespace >> label >> found.pid >> label >> found.start)
        return found;
    return std::nullopt;
}

Error lost(const Path& work)
{
    return {
        Errc::changed, "cannot go on writing: " + work.string() + ": another process has taken the claim over", "run it again, it goes on from what is there"};
}

bool is_there(const Path& path)
{
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0;
}

// The names in `directory` that start with `prefix`, without it; `others` tells whether there was anything else.
struct Names {
    std::vector<std::string> found;
    bool others = false;
};
Result<Names> names_in(const Path& directory, std::string_view prefix)
{
    Names names;
    std::error_code error;
    for (std::filesystem::directory_iterator at{directory, error}, end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.starts_with(prefix))
            names.found.push_back(name.substr(prefix.size()));
        else
            names.others = true;
    }
    if (error && error != std::errc::no_such_file_or_directory) return failure(system_error(error.value(), "cannot list", directory.string()));
    return names;
}

}  // namespace

TimePoint boot_time()
{
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return TimePoint{std::chrono::duration_cast<Duration>(std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec})};
}

void remove_empty(const Site& site)
{
    const auto names = names_in(site.base, fresh_prefix);
    if (names) {
        std::error_code ignored;  // whoever made it makes another
        for (const std::string& name : names.value().found) std::filesystem::remove_all(site.base / (std::string{fresh_prefix} + name), ignored);
    }
    (void)::rmdir(site.base.c_str());
    (void)::rmdir(site.shoal.c_str());
}

Claim::Claim(Path work, OwnerId id, ProcessIdentity self, ReadClock clock, bool unsure)
    : work_{std::move(work)}, id_{id}, self_{std::move(self)}, clock_{std::move(clock)}, unsure_{unsure}
{}

Path Claim::owner_file() const
{
    return work_ / (std::string{owner_prefix} + to_hex(id_));
}

Result<void> Claim::renew()
{
    const std::lock_guard lock{renewing_};
    const TimePoint begun = clock_();
    const Path path = owner_file();
    const files::File file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!file.is_open()) return errno == ENOENT ? failure(lost(work_)) : failure(system_error(errno, "cannot renew the claim", path.string()));
    const std::string record = record_of(id_, self_, ++count_);
    BOOST_OUTCOME_TRY(files::write_all(file, path, 0, as_bytes(record)));
    // The name may have changed between opening and writing; the record names its writer, so nobody is misled by it.
    if (!is_there(path)) return failure(lost(work_));
    renewed_ = begun.time_since_epoch().count();
    return success();
}

Result<void> Claim::guard()
{
    const TimePoint renewed{Duration{renewed_.load()}};
    if (clock_() - renewed < claim_trust) return success();
    return renew();
}

Result<void> Claim::remove()
{
    BOOST_OUTCOME_TRY(renew());
    const std::string own = owner_file().filename().string();
    std::error_code error;
    for (std::filesystem::directory_iterator at{work_, error}, end; !error && at != end; at.increment(error)) {
        if (at->path().filename() != own) std::filesystem::remove_all(at->path(), error);
        if (error) break;
    }
    if (error) return failure(system_error(error.value(), "cannot remove", work_.string()));
    if (::unlink(owner_file().c_str()) != 0 && errno != ENOENT) return failure(system_error(errno, "cannot remove", owner_file().string()));
    (void)::rmdir(work_.c_str());  // somebody may have come already
    return success();
}

void Claim::release()
{
    const std::lock_guard lock{renewing_};
    (void)::rename(owner_file().c_str(), (work_ / (std::string{owner_prefix} + "none")).c_str());
}

Claimer::Claimer(Site site, Claim::ReadClock clock, ProcessIdentity self)
    : site_{std::move(site)}, clock_{std::move(clock)}, self_{std::move(self)}, id_{random_id<OwnerId>()}
{}

Result<ClaimAttempt> Claimer::taken(bool unsure)
{
    auto claim = std::make_unique<Claim>(site_.work(), id_, self_, clock_, unsure);
    const auto renewed = claim->renew();
    if (renewed) return ClaimAttempt{std::move(claim), {}};
    if (renewed.error().code == Errc::changed) return ClaimAttempt{};  // somebody else was as quick
    claim->release();
    return failure(renewed.error());
}

Result<ClaimAttempt> Claimer::attempt()
{
    BOOST_OUTCOME_TRY(files::make_directories(site_.base));
    if (!is_there(site_.work())) return create();
    BOOST_OUTCOME_TRY(owners, names_in(site_.work(), owner_prefix));
    if (!owners.found.empty()) return judge(owners.found.front());
    return owners.others ? adopt_ownerless() : create();
}

// A directory with its owner in it takes the name, unless one that is not empty has it.
Result<ClaimAttempt> Claimer::create()
{
    const Path fresh = site_.base / (std::string{fresh_prefix} + to_hex(id_));
    const Path owner = std::string{owner_prefix} + to_hex(id_);
    if (!is_there(fresh)) {
        if (auto made = files::make_directories(fresh); !made)
            return made.error().code == Errc::not_found ? Result<ClaimAttempt>{ClaimAttempt{}} : failure(made.error());  // somebody tidied up; try again
    }
    const auto file = files::open_write(fresh / owner, files::Create::if_missing);
    if (!file) return file.error().code == Errc::not_found ? Result<ClaimAttempt>{ClaimAttempt{}} : failure(file.error());
    BOOST_OUTCOME_TRY(files::write_all(file.value(), fresh / owner, 0, as_bytes(record_of(id_, self_, 0))));
    const bool renamed = ::rename(fresh.c_str(), site_.work().c_str()) == 0;
    const int cause = renamed ? 0 : errno;
    if (renamed || is_there(site_.work() / owner)) return taken(unsure_);  // a repeated rename over NFS fails though it was done
    std::error_code ignored;
    std::filesystem::remove_all(fresh, ignored);
    if (cause == ENOTEMPTY || cause == EEXIST || cause == ENOENT) return ClaimAttempt{};
    return failure(system_error(cause, "cannot claim", site_.work().string()));
}

Result<ClaimAttempt> Claimer::judge(const std::string& owner)
{
    const Path theirs = site_.work() / (std::string{owner_prefix} + owner);
    const Path ours = site_.work() / (std::string{owner_prefix} + to_hex(id_));
    if (theirs == ours) return taken(false);
    const auto record = files::read_small(theirs, max_record);
    if (!record && record.error().code == Errc::not_found) return ClaimAttempt{};
    const std::string content = record ? record.value() : "unreadable: " + record.error().message;
    const auto identity = identity_in(content, owner);
    const Liveness liveness = owner == "none" ? Liveness::gone : identity ? look_for(*identity, self_) : Liveness::unknown;
    const ClaimVerdict verdict = watch_.judge(owner, content, liveness, clock_());
    if (verdict == ClaimVerdict::wait) return ClaimAttempt{nullptr, identity ? "process " + std::to_string(identity->pid) : "an unknown process"};
    const int cause = ::rename(theirs.c_str(), ours.c_str()) == 0 ? 0 : errno;
    if (cause != 0 && !is_there(ours)) {
        if (cause == ENOENT) return ClaimAttempt{};
        return failure(system_error(cause, "cannot take over the claim", theirs.string()));
    }
    return taken(verdict == ClaimVerdict::take_stale);
}

// Nobody leaves such a directory: its owner file was deleted by hand. One process takes it aside, makes itself the owner, and puts it back.
Result<ClaimAttempt> Claimer::adopt_ownerless()
{
    const Path fresh = site_.base / (std::string{fresh_prefix} + to_hex(id_));
    if (::rename(site_.work().c_str(), fresh.c_str()) != 0) {
        if (errno == ENOENT) return ClaimAttempt{};
        return failure(system_error(errno, "cannot claim", site_.work().string()));
    }
    unsure_ = true;
    return create();
}

}  // namespace shoal::peer
