// Tags, manifests and layers from the trackers, proven. On the loop.
#pragma once

#include "common/control/client.hpp"
#include "common/core/clock.hpp"
#include "peer/revision_data.hpp"

#include <functional>
#include <string>

namespace shoal::peer {

// not_found if the tag is unknown; timed_out naming every tracker.
void resolve_tag(control::Client& trackers, const std::string& model, const std::string& tag, Duration within, std::function<void(Result<RevisionId>)> done);

// Manifest, then layers. As prove_manifest and prove_layers; not_found if no tracker's store has the revision.
void get_revision(
    control::Client& trackers, const std::string& model, const RevisionId& revision, Duration within, std::function<void(Result<RevisionData>)> done);

// What a tracker says of a tag: {"revision": "sha256:.."}. malformed; never throws.
Result<RevisionId> decode_tag_reply(std::string_view body);

}  // namespace shoal::peer
