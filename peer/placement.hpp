// From staged and verified to ready: synced, intent written, files renamed, marker last. Whatever stops it, the next run finishes. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/model/manifest.hpp"
#include "peer/claim.hpp"
#include "peer/fetch_plan.hpp"
#include "peer/marker.hpp"
#include "peer/page_cache.hpp"
#include "peer/site.hpp"

#include <functional>
#include <set>
#include <string>

namespace shoal::peer {

struct Placement {
    Site site;
    Marker marker;  // all but files, bytes and whole: those are filled in here
    const model::Manifest& manifest;
    const FetchPlan& plan;
    std::set<std::string> recorded;  // paths that are ours at the destination; those that the revision lacks are removed if `replace`
    bool replace = false;
    Claim& claim;
    const PageCacheWindow& cache;                        // what the staged files were written through
    std::function<Result<void>(const char* step)> step;  // called before each; an error stops there. For tests; may be empty
};

// The marker that was put in place.
Result<Marker> place(Placement& placement);

// Takes the marker away: from here on the directory holds nothing that anybody may rely on. `left`, in the work directory, is what is still known of it.
Result<void> take_marker_away(const Site& site, const Marker& left);

}  // namespace shoal::peer
