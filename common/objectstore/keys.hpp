// The names of Shoal's objects in a store (docs/format.md, "In the store"). Pure.
#pragma once

#include "common/core/ids.hpp"

#include <string>
#include <string_view>

namespace shoal::objectstore {

std::string manifest_key(const RevisionId& revision);  // manifests/<hex>.json
std::string layers_key(const RevisionId& revision);    // layers/<hex>
std::string location_key(const RevisionId& revision);  // locations/<hex>.json
std::string blob_key(const Digest& pieces_root);       // blobs/<aa>/<hex>
std::string tags_prefix(std::string_view model);       // models/<name>/tags/
std::string tag_key(std::string_view model, std::string_view tag);
std::string revisions_prefix(std::string_view model);  // models/<name>/revisions/
std::string revision_key(std::string_view model, const RevisionId& revision);
std::string removal_key(const RevisionId& revision);  // state/removals/<hex>.json: the manifest of a revision that is being removed
inline constexpr std::string_view removals_prefix = "state/removals/";

}  // namespace shoal::objectstore
