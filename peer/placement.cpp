#include "peer/placement.hpp"

#include "common/files/file.hpp"
#include "peer/staging.hpp"

#include <cerrno>
#include <filesystem>
#include <unistd.h>

namespace shoal::peer {
namespace {

Result<void> begin(const Placement& placement, const char* step)
{
    BOOST_OUTCOME_TRY(placement.claim.renew());
    return placement.step ? placement.step(step) : Result<void>{success()};
}

std::vector<FileIndex> to_move(const Placement& placement)
{
    std::vector<FileIndex> moving;
    for (std::uint32_t i = 0; i < placement.manifest.files.size(); ++i)
        if (placement.plan.wanted[i] && !placement.plan.kept[i]) moving.push_back(FileIndex{i});
    return moving;
}

Result<void> sync_staged(const Placement& placement, const std::vector<FileIndex>& moving)
{
    const RevisionId& revision = placement.marker.revision;
    for (const FileIndex index : moving) {
        if (placement.manifest.files[index.value].size != 0 && moving.size() > sync_singly_up_to) continue;
        const Path path = placement.site.staged(revision, index);
        BOOST_OUTCOME_TRY(file, files::open_write(path, files::Create::if_missing));  // makes the empty ones
        if (moving.size() <= sync_singly_up_to) {
            BOOST_OUTCOME_TRY(files::sync(file, path));
        }
    }
    if (moving.size() > sync_singly_up_to) return files::sync_filesystem(placement.site.data(revision));
    for (const Path& directory : placement.site.staged_directories(revision, moving)) {
        BOOST_OUTCOME_TRY(files::sync_directory(directory));
    }
    return files::sync_directory(placement.site.data(revision));
}

Result<MarkedFile> mark(const Path& path, const model::File& file)
{
    BOOST_OUTCOME_TRY(state, files::state_of(path));
    if (state.size != file.size)
        return failure(Errc::integrity,
            "file has changed while it was staged: " + path.string() + ": expected " + std::to_string(file.size) + " bytes, found " +
                std::to_string(state.size),
            "run it again, it goes on from what is there");
    return MarkedFile{file.path, state.size, state.mtime_ns, state.inode};
}

Result<void> fill_marker(Placement& placement)
{
    Marker& marker = placement.marker;
    marker.files.clear();
    marker.bytes = 0;
    for (std::uint32_t i = 0; i < placement.manifest.files.size(); ++i) {
        const model::File& file = placement.manifest.files[i];
        const bool kept = placement.plan.kept[i];
        if (!kept && !placement.plan.wanted[i]) continue;
        BOOST_OUTCOME_TRY(marked, mark(kept ? placement.site.final(file.path) : placement.site.staged(marker.revision, FileIndex{i}), file));
        marker.bytes += marked.size;
        marker.files.push_back(std::move(marked));
    }
    marker.whole = marker.files.size() == placement.manifest.files.size();
    if (marker.whole) marker.include.clear(), marker.exclude.clear();
    return success();
}

// Into the room that was reserved for it, which nobody who filled the disk since can have taken.
Result<void> write_intent(const Placement& placement)
{
    const Path room = placement.site.room();
    const std::string content = encode(placement.marker);
    BOOST_OUTCOME_TRY(file, files::open_write(room, files::Create::if_missing));
    BOOST_OUTCOME_TRY(files::write_all(file, room, 0, as_bytes(content)));
    if (::ftruncate(file.descriptor(), static_cast<off_t>(content.size())) != 0) return failure(system_error(errno, "cannot cut", room.string()));
    BOOST_OUTCOME_TRY(files::sync(file, room));
    BOOST_OUTCOME_TRY(files::rename(room, placement.site.intent()));
    return files::sync_directory(placement.site.work());
}

// Removes files of the revision that was there, and directories that they leave empty.
Result<void> remove_surplus(const Placement& placement)
{
    std::set<std::string> staying;
    for (const model::File& file : placement.manifest.files) staying.insert(file.path);
    for (const std::string& path : placement.recorded) {
        if (staying.contains(path)) continue;
        const Path file = placement.site.final(path);
        if (::unlink(file.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) return failure(system_error(errno, "cannot remove", file.string()));
        for (Path above = Path{path}.parent_path(); !above.empty(); above = above.parent_path())
            if (::rmdir(placement.site.final(above.string()).c_str()) != 0) break;
    }
    return success();
}

Result<void> move_one(const Path& from, const Path& to)
{
    auto moved = files::rename(from, to);
    if (moved || ::rmdir(to.c_str()) != 0) return moved;  // an empty directory may stand there
    return files::rename(from, to);
}

// The directories between the destination and its files, each once, deepest last.
std::set<Path> directories_of(const Placement& placement, const std::vector<FileIndex>& moving)
{
    std::set<Path> directories{placement.site.directory};
    std::string_view before;
    for (const FileIndex index : moving) {
        const std::string_view path = placement.manifest.files[index.value].path;
        const std::string_view parent = path.substr(0, path.find('/') == std::string_view::npos ? 0 : path.rfind('/'));
        if (parent == before) continue;  // they are sorted
        before = parent;
        for (Path above{parent}; !above.empty(); above = above.parent_path())
            if (!directories.insert(placement.site.final(above.string())).second) break;
    }
    return directories;
}

Result<void> move_files(const Placement& placement, const std::vector<FileIndex>& moving)
{
    const std::set<Path> directories = directories_of(placement, moving);
    BOOST_OUTCOME_TRY(files::make_synced_directories(placement.site.directory));
    for (const Path& directory : directories) {
        BOOST_OUTCOME_TRY(files::make_directories(directory));
    }
    for (const FileIndex index : moving) {
        BOOST_OUTCOME_TRY(placement.claim.guard());
        BOOST_OUTCOME_TRY(move_one(placement.site.staged(placement.marker.revision, index), placement.site.final(placement.manifest.files[index.value].path)));
        if (placement.step) {
            BOOST_OUTCOME_TRY(placement.step("file"));
        }
    }
    for (const Path& directory : directories) {
        BOOST_OUTCOME_TRY(files::sync_directory(directory));
    }
    if (placement.site.directory.has_parent_path()) return files::sync_directory(placement.site.directory.parent_path());
    return success();
}

}  // namespace

Result<void> take_marker_away(const Site& site, const Marker& left)
{
    BOOST_OUTCOME_TRY(files::write_atomically(site.earlier(), encode(left)));
    if (::unlink(site.marker().c_str()) != 0 && errno != ENOENT) return failure(system_error(errno, "cannot remove", site.marker().string()));
    return files::sync_directory(site.directory);
}

Result<Marker> place(Placement& placement)
{
    const std::vector<FileIndex> moving = to_move(placement);
    BOOST_OUTCOME_TRY(begin(placement, "sync"));
    BOOST_OUTCOME_TRY(sync_staged(placement, moving));
    BOOST_OUTCOME_TRY(placement.cache.written_out());
    BOOST_OUTCOME_TRY(begin(placement, "intent"));
    BOOST_OUTCOME_TRY(fill_marker(placement));
    BOOST_OUTCOME_TRY(write_intent(placement));
    BOOST_OUTCOME_TRY(begin(placement, "surplus"));
    if (placement.replace) {
        BOOST_OUTCOME_TRY(remove_surplus(placement));
    }
    BOOST_OUTCOME_TRY(begin(placement, "move"));
    BOOST_OUTCOME_TRY(move_files(placement, moving));
    BOOST_OUTCOME_TRY(begin(placement, "marker"));
    BOOST_OUTCOME_TRY(files::rename(placement.site.intent(), placement.site.marker()));
    BOOST_OUTCOME_TRY(files::sync_directory(placement.site.directory));
    BOOST_OUTCOME_TRY(begin(placement, "tidy"));
    BOOST_OUTCOME_TRY(placement.claim.remove());
    remove_empty(placement.site);
    return placement.marker;
}

}  // namespace shoal::peer
