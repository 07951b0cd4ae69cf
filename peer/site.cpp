#include "peer/site.hpp"

#include "common/model/names.hpp"

#include <optional>
#include <utility>

namespace shoal::peer {

std::vector<Path> Site::staged_directories(const RevisionId& revision, const std::vector<FileIndex>& files) const
{
    std::vector<Path> directories;
    std::optional<std::uint32_t> before;
    for (const FileIndex file : files)
        if (const std::uint32_t group = file.value / staged_together; std::exchange(before, group) != group)
            directories.push_back(staged_directory(revision, file));
    return directories;
}

Site site_in_root(const Path& root, const std::string& model)
{
    const Path shoal = root / ".shoal";
    return {root / model, shoal, shoal / model::flat_name(model), root};
}

Site site_at(const Path& directory)
{
    const Path shoal = directory / ".shoal";
    return {directory, shoal, shoal, {}};
}

}  // namespace shoal::peer
