// What must be known of a revision to fetch or to check it: manifest, layout, layers, all proven against the digest. Immutable; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"

#include <memory>
#include <string>

namespace shoal::peer {

struct RevisionData {
    RevisionId revision;
    std::string manifest_bytes;
    std::string layer_bytes;
    model::Manifest manifest;
    std::shared_ptr<const model::Layout> layout;
    std::shared_ptr<const model::Layers> layers;
};

// `from`: where the bytes came from, for messages. integrity if the manifest is not the revision's or the layers do not lead to its roots; not_found if it
// is another model's.
Result<RevisionData> prove_manifest(const RevisionId& revision, const std::string& model, std::string manifest_bytes, const std::string& from);
Result<void> prove_layers(RevisionData& data, std::string layer_bytes, const std::string& from);

}  // namespace shoal::peer
