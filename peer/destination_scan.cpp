#include "peer/destination_scan.hpp"

#include "peer/overlap.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace shoal::peer {
namespace {

namespace fs = std::filesystem;

bool is_missing(const std::error_code& error)
{
    return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

Record with_states(const Site& site, Marker marker)
{
    Record record{std::move(marker), {}};
    for (const MarkedFile& file : record.marker.files) {
        const auto state = files::state_of(site.final(file.path));
        if (state && state.value().size == file.size && state.value().mtime_ns == file.mtime_ns && state.value().inode == file.inode)
            record.intact.insert(file.path);
    }
    return record;
}

// A record that is missing or damaged is none; why a damaged one does not decode goes to `damage`.
Result<std::optional<Record>> read_record(const Site& site, const Path& path, std::string* damage)
{
    const auto content = files::read_small(path, max_marker_bytes);
    if (!content) {
        if (content.error().code == Errc::not_found) return std::optional<Record>{};
        if (content.error().code == Errc::not_allowed) return failure(content.error());
        if (damage != nullptr) *damage = content.error().message;
        return std::optional<Record>{};
    }
    auto marker = decode_marker(content.value());
    if (marker) return std::optional<Record>{with_states(site, std::move(marker).value())};
    if (damage != nullptr) *damage = marker.error().message;
    return std::optional<Record>{};
}

bool is_volume_root_entry(const std::string& name)
{
    return name == "lost+found" || name == ".shoal" || name == marker_name || name.starts_with(".shoal-tmp-");
}

Error cannot_list(const std::error_code& error, const Path& path)
{
    return system_error(error.value(), "cannot list", path.string());
}

// One entry of the destination, `relative` to it; returns whether to descend.
bool note_entry(const fs::directory_entry& entry, const Path& relative, const std::set<std::string>& ours, DestinationFacts& facts)
{
    std::error_code ignored;
    const fs::file_type type = entry.symlink_status(ignored).type();
    if (type == fs::file_type::directory && relative.filename() == ".shoal") {
        const auto claimed = claimed_by_way_of(entry.path());
        for (const Path& directory : claimed) facts.other_models.push_back(directory.string() + " (being fetched)");
        return claimed.empty();
    }
    if (type == fs::file_type::directory) return true;
    if (type != fs::file_type::regular)
        facts.odd.push_back(relative.string());
    else if (relative.filename() == marker_name && !ours.contains(relative.string()))
        facts.other_models.push_back(entry.path().parent_path().string());
    else
        facts.present.insert(relative.string());
    return false;
}

Result<void> note_tree(const Site& site, DestinationFacts& facts)
{
    const std::set<std::string> recorded = recorded_paths(facts);
    std::error_code error;
    fs::recursive_directory_iterator at{site.directory, fs::directory_options::none, error};
    if (error) return is_missing(error) ? Result<void>{success()} : failure(cannot_list(error, site.directory));
    for (const fs::recursive_directory_iterator end; at != end; at.increment(error)) {
        if (error) return failure(cannot_list(error, site.directory));
        const bool ours = at.depth() == 0 && is_volume_root_entry(at->path().filename().string());
        if (ours || !note_entry(*at, at->path().lexically_relative(site.directory), recorded, facts)) at.disable_recursion_pending();
    }
    return error ? Result<void>{failure(cannot_list(error, site.directory))} : success();
}

}  // namespace

Result<DestinationFacts> look_at_marker(const Site& site)
{
    DestinationFacts facts;
    facts.directory = site.directory.string();
    BOOST_OUTCOME_TRY(marker, read_record(site, site.marker(), &facts.damage));
    facts.marker = std::move(marker);
    return facts;
}

Result<DestinationFacts> look_at(const Site& site)
{
    BOOST_OUTCOME_TRY(facts, look_at_marker(site));
    BOOST_OUTCOME_TRY(earlier, read_record(site, site.earlier(), nullptr));
    facts.earlier = std::move(earlier);
    BOOST_OUTCOME_TRY(intent, read_record(site, site.intent(), nullptr));
    facts.intent = std::move(intent);
    BOOST_OUTCOME_TRY(note_tree(site, facts));
    for (std::string& other : other_directories(site)) facts.other_models.push_back(std::move(other));
    return std::move(facts);
}

Result<void> check_writable(const Site& site)
{
    Path nearest = site.base;
    std::error_code ignored;
    while (!fs::exists(nearest, ignored) && nearest.has_parent_path() && nearest != nearest.parent_path()) nearest = nearest.parent_path();
    if (nearest.empty()) nearest = ".";
    if (!fs::is_directory(nearest, ignored)) return failure(Errc::not_allowed, "destination is not a directory: " + nearest.string(), "name a directory");
    if (::access(nearest.c_str(), W_OK | X_OK) == 0) return success();
    Error error = system_error(errno, "destination is not writable", nearest.string());
    error.hint = "give this user write access, or name another destination";
    if (nearest == site.base || nearest == site.shoal) {
        const bool beside = ::access(site.shoal.c_str(), W_OK | X_OK) == 0;
        error.hint = "another user's fetch left it: run as that user, or remove " + (beside ? site.base : site.shoal).string() + " if no fetch uses it";
    }
    return failure(std::move(error));
}

}  // namespace shoal::peer
