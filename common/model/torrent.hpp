// The v2-only, private torrent that is derived from a manifest, never stored (docs/format.md, BEP 52). Pure.
#pragma once

#include "common/core/ids.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"

#include <optional>
#include <string>

namespace shoal::model {

// A cluster secret mixed into the info dictionary, which makes the info hash a capability.
using SwarmKey = std::optional<Digest>;

// Bencoded info dictionary: "file tree", "meta version", "name" (the revision's hex), "piece length", "private".
std::string info_dictionary(const Layout& layout, const RevisionId& revision, const SwarmKey& key = {});

// Bencoded torrent: the info dictionary and "piece layers".
std::string torrent_file(const Layout& layout, const Layers& layers, const RevisionId& revision, const SwarmKey& key = {});

InfoHash info_hash(const Layout& layout, const RevisionId& revision, const SwarmKey& key = {});

}  // namespace shoal::model
