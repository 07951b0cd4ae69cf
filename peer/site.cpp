#include "peer/site.hpp"

#include "common/model/names.hpp"

namespace shoal::peer {

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
