#include "common/objectstore/catalog.hpp"

#include "common/objectstore/keys.hpp"

#include <algorithm>
#include <set>

namespace shoal::objectstore {
namespace {

constexpr std::size_t page_size = 1000;

// Says in what a record was found that does not hold what it should.
Error in_object(Error error, ObjectStore& store, const std::string& key)
{
    error.message = store.url() + " key '" + key + "': " + error.message;
    return error;
}

Result<Object> fetch(ObjectStore& store, const std::string& key, std::size_t limit, const std::string& what)
{
    auto object = store.get(key, limit);
    if (!object && object.error().code == Errc::not_found) return failure(Errc::not_found, what + " not found: " + store.url() + " has no key '" + key + "'");
    return object;
}

// What follows the prefix of every key below it.
Result<std::vector<std::string>> names_below(ObjectStore& store, const std::string& prefix)
{
    std::vector<std::string> names;
    std::string after;
    do {
        BOOST_OUTCOME_TRY(page, store.list(prefix, after, page_size));
        for (const ObjectInfo& object : page.objects) names.push_back(object.key.substr(prefix.size()));
        after = page.next;
    } while (!after.empty());
    return names;
}

}  // namespace

Result<PublishedRevision> load_manifest(ObjectStore& store, const RevisionId& revision)
{
    const std::string key = manifest_key(revision);
    BOOST_OUTCOME_TRY(object, fetch(store, key, model::max_manifest_bytes, "revision " + to_string(revision)));
    const RevisionId found = model::revision_of(object.content);
    if (found != revision)
        return failure(Errc::integrity,
            "manifest is damaged: " + store.url() + " key '" + key + "': expected " + to_string(revision) + ", found " + to_string(found),
            "publish the revision again after removing this object");
    auto manifest = model::decode_manifest(object.content);
    if (!manifest) return failure(in_object(manifest.error(), store, key));
    return PublishedRevision{revision, std::move(object.content), std::move(manifest).value()};
}

Result<std::string> load_layers(ObjectStore& store, const RevisionId& revision, const model::Layout& layout)
{
    const std::string key = layers_key(revision);
    const std::size_t size = std::size_t{layout.pieces()} * Digest::size;
    auto object = fetch(store, key, size, "layers of " + to_string(revision));
    if (!object && object.error().code != Errc::too_large) return failure(object.error());
    if (!object) return failure(Errc::integrity, object.error().message, object.error().hint);
    const auto layers = model::decode_layers(object.value().content, layout);
    if (!layers) return failure(in_object(layers.error(), store, key));
    return std::move(object.value().content);
}

Result<Location> load_location(ObjectStore& store, const PublishedRevision& revision)
{
    const std::string key = location_key(revision.id);
    BOOST_OUTCOME_TRY(object, fetch(store, key, max_location_bytes, "location of " + to_string(revision.id)));
    auto location = decode_location(object.content, revision.manifest);
    if (!location) return failure(in_object(location.error(), store, key));
    return location;
}

Result<void> require_revision(ObjectStore& store, const std::string& model, const RevisionId& revision)
{
    const auto record = store.head(revision_key(model, revision));
    if (!record && record.error().code == Errc::not_found)
        return failure(
            Errc::not_found, "revision not found: " + model + ": " + store.url() + " has no " + to_string(revision) + " of it", "see 'shoal-seeder ls'");
    if (!record) return failure(record.error());
    return success();
}

Result<RevisionId> load_tag(ObjectStore& store, const std::string& model, const std::string& tag)
{
    const std::string key = tag_key(model, tag);
    BOOST_OUTCOME_TRY(object, fetch(store, key, max_record_bytes, "tag " + model + ":" + tag));
    auto revision = decode_pointer(object.content);
    if (!revision) return failure(in_object(revision.error(), store, key));
    return revision;
}

Result<std::vector<std::string>> list_models(ObjectStore& store)
{
    BOOST_OUTCOME_TRY(names, names_below(store, "models/"));
    std::set<std::string> models;
    for (const std::string& name : names) {
        const std::size_t slash = name.find('/');
        const std::string_view rest = std::string_view{name}.substr(std::min(slash, name.size()));
        if (!rest.starts_with("/tags/") && !rest.starts_with("/revisions/")) continue;
        std::string model = name.substr(0, slash);
        std::replace(model.begin(), model.end(), '~', '/');  // names have no "~" of their own
        models.insert(std::move(model));
    }
    return std::vector<std::string>{models.begin(), models.end()};
}

Result<std::vector<TagRecord>> list_tags(ObjectStore& store, const std::string& model)
{
    BOOST_OUTCOME_TRY(names, names_below(store, tags_prefix(model)));
    std::vector<TagRecord> tags;
    for (std::string& name : names) {
        auto revision = load_tag(store, model, name);
        if (!revision && revision.error().code == Errc::not_found) continue;  // untagged meanwhile
        if (!revision) return failure(revision.error());
        tags.push_back({std::move(name), revision.value()});
    }
    return tags;
}

Result<std::vector<RevisionId>> list_revisions(ObjectStore& store, const std::string& model)
{
    BOOST_OUTCOME_TRY(names, names_below(store, revisions_prefix(model)));
    std::vector<RevisionId> revisions;
    for (const std::string& name : names) {
        auto revision = id_from_hex<RevisionId>(name);
        if (!revision) return failure(in_object(revision.error(), store, revisions_prefix(model) + name));
        revisions.push_back(revision.value());
    }
    return revisions;
}

}  // namespace shoal::objectstore
