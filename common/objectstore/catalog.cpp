#include "common/objectstore/catalog.hpp"

#include "common/model/names.hpp"
#include "common/objectstore/keys.hpp"

#include <algorithm>
#include <set>

namespace shoal::objectstore {
namespace {

constexpr std::size_t page_size = 1000;

constexpr const char* restore_hint = "publish the revision again from its source, which puts that object right";
constexpr const char* tag_hint = "set the tag again by 'shoal-seeder tag', or take it away by 'shoal-seeder untag'";

// What lies at a key and does not decode. `cause` says what was expected and found.
Error damaged(const std::string& what, ObjectStore& store, const std::string& key, const Error& cause, const char* hint)
{
    return {Errc::integrity, what + " is damaged: " + store.url() + " key '" + model::printable(key) + "': " + cause.message,
        cause.hint.empty() ? hint : cause.hint};
}

// Whether an object that could not be read is trouble of its own, and the others may be well.
bool is_its_own(Errc code)
{
    return code == Errc::integrity || code == Errc::not_allowed || code == Errc::io;
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

Result<Object> load_object(ObjectStore& store, const std::string& key, std::size_t limit, const std::string& what)
{
    auto object = store.get(key, limit);
    if (!object && object.error().code == Errc::not_found) return failure(Errc::not_found, what + " not found: " + store.url() + " has no key '" + key + "'");
    if (!object && object.error().code == Errc::too_large) return failure(Errc::integrity, what + " is damaged: " + object.error().message, restore_hint);
    return object;
}

Result<PublishedRevision> load_manifest(ObjectStore& store, const RevisionId& revision)
{
    const std::string key = manifest_key(revision);
    BOOST_OUTCOME_TRY(object, load_object(store, key, model::max_manifest_bytes, "revision " + to_string(revision)));
    const RevisionId found = model::revision_of(object.content);
    if (found != revision)
        return failure(damaged("manifest", store, key, {Errc::integrity, "expected " + to_string(revision) + ", found " + to_string(found), {}}, restore_hint));
    auto manifest = model::decode_manifest(object.content);
    if (!manifest) return failure(damaged("manifest", store, key, manifest.error(), restore_hint));
    return PublishedRevision{revision, std::move(object.content), std::move(manifest).value()};
}

Result<std::string> load_layers(ObjectStore& store, const RevisionId& revision, const model::Layout& layout)
{
    const std::string key = layers_key(revision);
    const std::string what = "layers of " + to_string(revision);
    BOOST_OUTCOME_TRY(object, load_object(store, key, std::size_t{layout.pieces()} * Digest::size, what));
    const auto layers = model::decode_layers(object.content, layout);
    if (!layers) return failure(damaged(what, store, key, layers.error(), restore_hint));
    return std::move(object.content);
}

Result<Location> load_location(ObjectStore& store, const PublishedRevision& revision)
{
    const std::string key = location_key(revision.id);
    const std::string what = "location of " + to_string(revision.id);
    BOOST_OUTCOME_TRY(object, load_object(store, key, max_location_bytes, what));
    auto location = decode_location(object.content, revision.manifest);
    if (!location) return failure(damaged(what, store, key, location.error(), restore_hint));
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
    const std::string what = "tag " + model + ":" + tag;
    auto object = load_object(store, key, max_record_bytes, what);
    if (!object) {
        if (object.error().code == Errc::integrity) object.error().hint = tag_hint;
        return failure(object.error());
    }
    auto revision = decode_pointer(object.value().content);
    if (!revision) return failure(damaged(what, store, key, revision.error(), tag_hint));
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

Result<Listing<TagRecord>> list_tags(ObjectStore& store, const std::string& model)
{
    BOOST_OUTCOME_TRY(names, names_below(store, tags_prefix(model)));
    Listing<TagRecord> tags;
    for (std::string& name : names) {
        auto revision = load_tag(store, model, name);
        if (revision)
            tags.items.push_back({std::move(name), revision.value()});
        else if (is_its_own(revision.error().code))
            tags.troubles.push_back(revision.error());
        else if (revision.error().code != Errc::not_found)  // untagged meanwhile
            return failure(revision.error());
    }
    return tags;
}

Result<Listing<RevisionId>> list_revisions(ObjectStore& store, const std::string& model)
{
    BOOST_OUTCOME_TRY(names, names_below(store, revisions_prefix(model)));
    Listing<RevisionId> revisions;
    for (const std::string& name : names) {
        auto revision = id_from_hex<RevisionId>(name);
        if (revision)
            revisions.items.push_back(revision.value());
        else
            revisions.troubles.push_back(damaged("record of a revision", store, revisions_prefix(model) + name,
                {Errc::malformed, "expected a name of 64 lower-case hex digits, found '" + model::printable(name.substr(0, 100)) + "'", {}},
                "remove that object"));
    }
    return revisions;
}

}  // namespace shoal::objectstore
