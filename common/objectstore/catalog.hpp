// What is published: models, their tags and revisions, and where a revision's bytes are. Blocking; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/model/layers.hpp"
#include "common/model/manifest.hpp"
#include "common/objectstore/object_store.hpp"

#include <string>
#include <vector>

namespace shoal::objectstore {

// Where a swarm file's bytes are read. A blob of the store, or files indexed where they lie.
struct SourceFile {
    std::string key;  // in the store named by Location::root
    Version version;
};
struct Location {
    std::string root;               // URL of the store of the sources; empty: every swarm file is a blob of this store
    std::vector<SourceFile> files;  // by FileIndex; empty where root is
};

struct TagRecord {
    std::string tag;
    RevisionId revision;
};

// What a listing found, and what of it could not be read: each trouble names its key (integrity, not_allowed, io), and hides nothing else.
template <typename T>
struct Listing {
    std::vector<T> items;
    std::vector<Error> troubles;
};

struct PublishedRevision {  // all that is needed to serve one
    RevisionId id;
    std::string manifest_bytes;
    model::Manifest manifest;
};

// Records as they lie in the store (docs/format.md). Decoders are strict and never throw: malformed, or too_large above max_location_bytes.
inline constexpr std::size_t max_location_bytes = 64U << 20U;
inline constexpr std::size_t max_record_bytes = 4096;
std::string encode(const Location& location);
Result<Location> decode_location(std::string_view bytes, const model::Manifest& manifest);
std::string encode_pointer(const RevisionId& revision);  // what a tag or a revision record holds: {"revision":"sha256:…"}
Result<RevisionId> decode_pointer(std::string_view bytes);

// What is read is checked: not_found naming `what`; integrity, naming the key, expected and found, where the store holds something else or more than that can be.
Result<Object> load_object(ObjectStore& store, const std::string& key, std::size_t limit, const std::string& what);  // only its size is checked
Result<PublishedRevision> load_manifest(ObjectStore& store, const RevisionId& revision);
Result<std::string> load_layers(ObjectStore& store, const RevisionId& revision, const model::Layout& layout);
Result<Location> load_location(ObjectStore& store, const PublishedRevision& revision);
Result<void> require_revision(ObjectStore& store, const std::string& model, const RevisionId& revision);  // not_found unless it is one of the model's
Result<RevisionId> load_tag(ObjectStore& store, const std::string& model, const std::string& tag);
Result<std::vector<std::string>> list_models(ObjectStore& store);  // pages; cost grows with models, tags and revisions, not with blobs
Result<Listing<TagRecord>> list_tags(ObjectStore& store, const std::string& model);
Result<Listing<RevisionId>> list_revisions(ObjectStore& store, const std::string& model);

}  // namespace shoal::objectstore
