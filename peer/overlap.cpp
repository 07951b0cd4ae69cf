#include "peer/overlap.hpp"

#include <algorithm>
#include <filesystem>

namespace shoal::peer {
namespace {

namespace fs = std::filesystem;

Path real(const Path& path)
{
    std::error_code error;
    Path found = fs::weakly_canonical(fs::absolute(path), error);
    if (error) found = fs::absolute(path).lexically_normal();
    return found.has_filename() ? found : found.parent_path();
}

bool contains(const Path& outer, const Path& inner)
{
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// A work directory with a claim in it.
bool is_claimed(const Path& work)
{
    std::error_code error;
    for (fs::directory_iterator at{work, error}, end; !error && at != end; at.increment(error))
        if (at->path().filename().string().starts_with("owner.")) return true;
    return false;
}

// Adds what other fetches fill by way of `shoal` and the destination overlaps.
void note_claims(const Path& shoal, const Site& site, std::vector<std::string>& others)
{
    const Path own = real(site.directory);
    const bool ours = shoal == real(site.shoal);
    for (const Path& claimed : claimed_by_way_of(shoal)) {
        const Path theirs = real(claimed);
        const bool itself = ours && claimed == (site.root.empty() ? shoal.parent_path() : shoal.parent_path() / site.directory.lexically_relative(site.root));
        if (!itself && (contains(theirs, own) || contains(own, theirs))) others.push_back(claimed.string() + " (being fetched)");
    }
}

}  // namespace

std::vector<Path> claimed_by_way_of(const Path& shoal)
{
    std::vector<Path> found;
    if (is_claimed(shoal / "work")) found.push_back(shoal.parent_path());
    std::error_code error;
    for (fs::directory_iterator at{shoal, error}, end; !error && at != end; at.increment(error)) {
        if (!is_claimed(at->path() / "work")) continue;
        std::string name = at->path().filename().string();  // model::flat_name's
        std::replace(name.begin(), name.end(), '~', '/');
        found.push_back(shoal.parent_path() / name);
    }
    return found;
}

std::vector<std::string> other_directories(const Site& site)
{
    std::vector<std::string> others;
    const Path own = real(site.directory);
    for (Path above = own;; above = above.parent_path()) {
        std::error_code ignored;
        if (above != own && fs::exists(above / marker_name, ignored)) others.push_back(above.string());
        note_claims(above / ".shoal", site, others);
        if (above == above.parent_path()) break;
    }
    const Path shoal = real(site.shoal);  // the model's directory may be a link to elsewhere
    if (!contains(shoal.parent_path(), own)) note_claims(shoal, site, others);
    return others;
}

}  // namespace shoal::peer
