#include "peer/staging.hpp"

#include "common/core/quantity.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <map>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

namespace shoal::peer {
namespace {

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t few = 8;  // inodes of our own: the claim, the marker, the directories above them

std::uint64_t whole_blocks(std::uint64_t size)
{
    return (size + block - 1) / block * block;
}

// The manifest and layers in their JSON form, and a hundred bytes and the path of each file.
std::uint64_t marker_size(const RevisionData& data)
{
    return 3 * (data.manifest_bytes.size() + data.layer_bytes.size()) + (64U << 10U);
}

Result<void> reserve(const Path& path, std::uint64_t size)
{
    BOOST_OUTCOME_TRY(file, files::open_write(path, files::Create::if_missing));
    BOOST_OUTCOME_TRY(state, files::state_of(file, path));
    if (state.size > size && ::ftruncate(file.descriptor(), static_cast<off_t>(size)) != 0) return failure(system_error(errno, "cannot cut", path.string()));
    if (size == 0 || ::fallocate(file.descriptor(), 0, 0, static_cast<off_t>(size)) == 0) return success();
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO) return failure(system_error(errno, "cannot make room for", path.string()));
    if (::ftruncate(file.descriptor(), static_cast<off_t>(size)) != 0) return failure(system_error(errno, "cannot size", path.string()));  // no fallocate here
    return success();
}

// The files in as many shares as cores, each directory mostly in one of them: making thousands is the kernel's work, which it does in several directories at
// once. 10 000 files of 4 KiB on ext4 took half the time on two cores. The first failure, in the files' order.
Result<void> reserve_all(const Site& site, const RevisionData& data, const std::vector<FileIndex>& staged)
{
    const std::size_t shares = std::clamp<std::size_t>(staged.size() / (4 * Site::staged_together), 1, std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
    const auto reserve_share = [&](std::size_t share) -> Result<void> {
        for (std::size_t i = staged.size() * share / shares; i < staged.size() * (share + 1) / shares; ++i) {
            BOOST_OUTCOME_TRY(reserve(site.staged(data.revision, staged[i]), data.manifest.files[staged[i].value].size));
        }
        return success();
    };
    std::vector<std::future<Result<void>>> others;
    for (std::size_t share = 1; share < shares; ++share) others.push_back(std::async(std::launch::async, reserve_share, share));
    Result<void> reserved = reserve_share(0);
    for (std::future<Result<void>>& other : others) {
        Result<void> its = other.get();
        if (reserved) reserved = std::move(its);
    }
    return reserved;
}

// Directories that the staged files will go to and that are not there yet.
std::uint64_t missing_directories(const Site& site, const model::Manifest& manifest, const FetchPlan& plan)
{
    std::set<std::string> missing;
    for (const FileIndex file : plan.staged)
        for (Path above = Path{manifest.files[file.value].path}.parent_path(); !above.empty(); above = above.parent_path()) {
            std::error_code ignored;
            if (missing.contains(above.string()) || std::filesystem::exists(site.final(above.string()), ignored)) break;
            missing.insert(above.string());
        }
    return missing.size();
}

std::uint64_t missing_staging(const Site& site, const RevisionId& revision, const FetchPlan& plan)
{
    const std::vector<Path> directories = site.staged_directories(revision, plan.staged);
    std::error_code ignored;
    return static_cast<std::uint64_t>(
        std::count_if(directories.begin(), directories.end(), [&](const Path& directory) { return !std::filesystem::exists(directory, ignored); }));
}

// Ranges of a file that are not holes; all of it where the filesystem does not say.
std::vector<std::pair<std::uint64_t, std::uint64_t>> data_ranges(const Path& path)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    const auto file = files::open_read(path);
    if (!file) return ranges;
    const int descriptor = file.value().descriptor();
    for (off_t at = 0;;) {
        const off_t data = ::lseek(descriptor, at, SEEK_DATA);
        if (data < 0) {
            if (errno != ENXIO) return {{0, ~std::uint64_t{0}}};
            return ranges;
        }
        const off_t hole = ::lseek(descriptor, data, SEEK_HOLE);
        if (hole < 0) return {{0, ~std::uint64_t{0}}};
        ranges.emplace_back(static_cast<std::uint64_t>(data), static_cast<std::uint64_t>(hole));
        at = hole;
    }
}

struct StagedFile {
    FileIndex file;
    Path path;
};

// What is there of what will be staged, by one look at each directory: a model may have a hundred thousand files, and mostly none is there.
std::vector<StagedFile> staged_before(const Site& site, const RevisionId& revision, const FetchPlan& plan)
{
    std::vector<StagedFile> there;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at{site.data(revision), error}, end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        FileIndex file;
        std::from_chars(name.data() + 1, name.data() + name.size(), file.value);
        if (at->path() != site.staged(revision, file)) continue;
        if (std::binary_search(plan.staged.begin(), plan.staged.end(), file)) there.push_back({file, at->path()});
    }
    return there;
}

Result<void> tidy(const Site& site, const Path& data)
{
    std::error_code error;
    for (std::filesystem::directory_iterator at{site.work(), error}, end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (at->path() == data || at->path() == site.room() || name.starts_with("owner.") || at->path() == site.earlier() || at->path() == site.intent())
            continue;
        std::filesystem::remove_all(at->path(), error);
        if (error) break;
    }
    if (error) return failure(system_error(error.value(), "cannot remove what an earlier run left", site.work().string()));
    return success();
}

}  // namespace

Result<void> check_space(const Space& need, const FreeSpace& there, const Path& where)
{
    if (there.total.bytes != 0 && need.bytes > there.free.bytes)
        return failure(Errc::no_space,
            "not enough space: " + where.string() + ": expected " + std::to_string(need.bytes) + " bytes (" + format_size(need.bytes) + "), found " +
                std::to_string(there.free.bytes) + " (" + format_size(there.free.bytes) + ") free",
            "free some, or name another destination");
    if (there.total.inodes != 0 && need.inodes > there.free.inodes)
        return failure(Errc::no_space,
            "not enough inodes: " + where.string() + ": expected " + std::to_string(need.inodes) + ", found " + std::to_string(there.free.inodes) + " free",
            "remove files, or name another destination");
    return success();
}

Result<FreeSpace> free_space(const Path& where)
{
    struct statvfs facts {};
    if (::statvfs(where.c_str(), &facts) != 0) return failure(system_error(errno, "cannot ask for free space", where.string()));
    return FreeSpace{{facts.f_blocks * facts.f_frsize, facts.f_files}, {facts.f_bavail * facts.f_frsize, facts.f_favail}};
}

Space space_needed(const Site& site, const RevisionData& data, const FetchPlan& plan)
{
    const auto& files = data.manifest.files;
    const std::uint64_t directories = missing_directories(site, data.manifest, plan) + missing_staging(site, data.revision, plan);
    Space need{whole_blocks(marker_size(data)) + directories * block, plan.staged.size() + directories + few};
    for (const FileIndex file : plan.staged) need.bytes += whole_blocks(files[file.value].size);
    const auto there = [&need](const Path& path, std::uint64_t size) {
        struct stat facts {};
        if (::stat(path.c_str(), &facts) != 0) return;
        need.bytes -= std::min<std::uint64_t>(whole_blocks(size), static_cast<std::uint64_t>(facts.st_blocks) * 512);
        --need.inodes;
    };
    for (const StagedFile& staged : staged_before(site, data.revision, plan)) there(staged.path, files[staged.file.value].size);
    there(site.room(), marker_size(data));
    return need;
}

Result<void> prepare(const Site& site, const RevisionData& data, const FetchPlan& plan)
{
    BOOST_OUTCOME_TRY(tidy(site, site.data(data.revision)));
    BOOST_OUTCOME_TRY(files::make_directories(site.data(data.revision)));
    for (const Path& directory : site.staged_directories(data.revision, plan.staged)) {
        BOOST_OUTCOME_TRY(files::make_directories(directory));
    }
    BOOST_OUTCOME_TRY(reserve_all(site, data, plan.staged));
    return reserve(site.room(), marker_size(data));
}

void settle(const Site& site, const RevisionData& data, const FetchPlan& plan)
{
    const std::vector<StagedFile> there = staged_before(site, data.revision, plan);
    if (there.size() > sync_singly_up_to) (void)files::sync_filesystem(site.work());
    for (const StagedFile& staged : there) {
        const auto file = files::open_read(staged.path);
        if (!file) continue;
        (void)files::sync(file.value(), staged.path);
        files::drop_cached(file.value());
    }
}

std::vector<bool> maybe_written(const Site& site, const RevisionData& data, const FetchPlan& plan)
{
    const model::Layout& layout = *data.layout;
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> ranges;
    for (const StagedFile& staged : staged_before(site, data.revision, plan)) ranges[staged.file.value] = data_ranges(staged.path);
    const auto overlaps = [&](const model::Extent& extent) {
        const auto found = ranges.find(extent.file.value);
        if (found == ranges.end()) return false;
        const auto at = std::upper_bound(
            found->second.begin(), found->second.end(), extent.offset, [](std::uint64_t offset, const auto& range) { return offset < range.second; });
        return at != found->second.end() && at->first < extent.offset + extent.length;
    };
    std::vector<bool> written(layout.pieces());
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) {
        if (!plan.needed[piece]) continue;
        const auto extents = layout.extents(PieceIndex{piece}, 0, layout.place(PieceIndex{piece}).length);
        written[piece] = std::any_of(extents.begin(), extents.end(), overlaps);
    }
    return written;
}

}  // namespace shoal::peer
