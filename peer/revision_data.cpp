#include "peer/revision_data.hpp"

namespace shoal::peer {

Result<RevisionData> prove_manifest(const RevisionId& revision, const std::string& model, std::string manifest_bytes, const std::string& from)
{
    const RevisionId found = model::revision_of(manifest_bytes);
    if (found != revision)
        return failure(Errc::integrity, "manifest is not the revision's: from " + from + ": expected " + to_string(revision) + ", found " + to_string(found),
            "check the store with shoal-seeder verify");
    auto manifest = model::decode_manifest(manifest_bytes);
    if (!manifest)
        return failure(Errc::integrity, "manifest does not decode: " + to_string(revision) + " from " + from + ": " + manifest.error().message,
            "a newer version may have written it");
    if (manifest.value().model != model)
        return failure(Errc::not_found, "revision is not of this model: " + to_string(revision) + ": expected " + model + ", found " + manifest.value().model,
            "check --model");
    RevisionData data{revision, std::move(manifest_bytes), {}, std::move(manifest).value(), nullptr, nullptr};
    data.layout = std::make_shared<const model::Layout>(data.manifest);
    return data;
}

Result<void> prove_layers(RevisionData& data, std::string layer_bytes, const std::string& from)
{
    auto layers = model::decode_layers(layer_bytes, *data.layout);
    if (!layers)
        return failure(Errc::integrity, "piece layers are not the revision's: " + to_string(data.revision) + " from " + from + ": " + layers.error().message,
            "check the store with shoal-seeder verify");
    data.layer_bytes = std::move(layer_bytes);
    data.layers = std::make_shared<const model::Layers>(std::move(layers).value());
    return success();
}

}  // namespace shoal::peer
