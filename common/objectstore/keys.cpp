#include "common/objectstore/keys.hpp"

#include "common/model/names.hpp"

namespace shoal::objectstore {

std::string manifest_key(const RevisionId& revision)
{
    return "manifests/" + to_hex(revision) + ".json";
}

std::string layers_key(const RevisionId& revision)
{
    return "layers/" + to_hex(revision);
}

std::string location_key(const RevisionId& revision)
{
    return "locations/" + to_hex(revision) + ".json";
}

std::string blob_key(const Digest& pieces_root)
{
    const std::string hex = to_hex(pieces_root);
    return "blobs/" + hex.substr(0, 2) + "/" + hex;
}

std::string removal_key(const RevisionId& revision)
{
    return std::string{removals_prefix} + to_hex(revision) + ".json";
}

std::string tags_prefix(std::string_view model)
{
    return "models/" + model::flat_name(model) + "/tags/";
}

std::string tag_key(std::string_view model, std::string_view tag)
{
    return tags_prefix(model).append(tag);
}

std::string revisions_prefix(std::string_view model)
{
    return "models/" + model::flat_name(model) + "/revisions/";
}

std::string revision_key(std::string_view model, const RevisionId& revision)
{
    return revisions_prefix(model) + to_hex(revision);
}

}  // namespace shoal::objectstore
