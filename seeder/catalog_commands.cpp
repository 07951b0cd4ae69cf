#include "seeder/catalog_commands.hpp"

#include "common/core/quantity.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"
#include "common/obs/log.hpp"
#include "seeder/event_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace shoal::seeder {
namespace {

using objectstore::ObjectStore;

// What there is of one revision of a model.
struct Listed {
    bool published = false;  // has a record; else a tag names what is not there
    std::vector<std::string> tags;
};

// Damage that is told at the end, after all that is well.
class Troubles {
public:
    void add(const Error& error)
    {
        obs::log(obs::Level::warning, error.message);
        if (!first_) first_ = error;
        ++count_;
    }
    [[nodiscard]] Result<void> end() const
    {
        if (!first_) return success();
        const std::string more = count_ > 1 ? "; and " + std::to_string(count_ - 1) + " more, named above" : "";
        return failure(first_->code, "the list is not complete: " + first_->message + more, first_->hint);
    }

private:
    std::optional<Error> first_;
    std::size_t count_ = 0;
};

Result<std::map<RevisionId, Listed>> revisions_of(ObjectStore& store, const std::string& model, Troubles& troubles)
{
    std::map<RevisionId, Listed> all;
    BOOST_OUTCOME_TRY(revisions, objectstore::list_revisions(store, model));
    for (const RevisionId& revision : revisions.items) all[revision].published = true;
    BOOST_OUTCOME_TRY(tags, objectstore::list_tags(store, model));
    for (const objectstore::TagRecord& record : tags.items) all[record.revision].tags.push_back(record.tag);
    for (const auto* found : {&revisions.troubles, &tags.troubles}) std::for_each(found->begin(), found->end(), [&](const Error& one) { troubles.add(one); });
    return all;
}

std::string joined(const std::vector<std::string>& tags)
{
    std::string text;
    for (const std::string& tag : tags) text += (text.empty() ? "" : ",") + tag;
    return text.empty() ? "-" : text;
}

// Files and bytes need the manifest: told where one model is asked for.
struct Extent {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::string trouble;
};

Extent extent_of(ObjectStore& store, const RevisionId& revision, Troubles& troubles)
{
    const auto loaded = objectstore::load_manifest(store, revision);
    if (!loaded && loaded.error().code != Errc::not_found) troubles.add(loaded.error());
    if (!loaded) return {0, 0, loaded.error().message};
    return {loaded.value().manifest.files.size(), loaded.value().manifest.bytes(), {}};
}

void print(const std::string& model, const RevisionId& revision, const Listed& listed, const std::optional<Extent>& extent, Output output)
{
    if (output == Output::json) {
        nlohmann::ordered_json line{{"model", model}, {"revision", to_string(revision)}, {"tags", listed.tags}};
        if (extent && extent->trouble.empty()) line.update({{"files", extent->files}, {"bytes", extent->bytes}});
        if (extent && !extent->trouble.empty()) line["trouble"] = extent->trouble;
        if (!listed.published) line["trouble"] = "tagged, but not published";
        return print_event(line);
    }
    std::string line = model + "  " + to_string(revision) + "  " + joined(listed.tags);
    if (extent && extent->trouble.empty()) line += "  " + std::to_string(extent->files) + " files  " + format_size(extent->bytes);
    if (extent && !extent->trouble.empty()) line += "  " + extent->trouble;
    if (!listed.published) line += "  tagged, but not published";
    print_line(line);
}

// Whether the model has anything that can be told.
Result<bool> list_model(ObjectStore& store, const std::string& model, bool with_extent, Output output, Troubles& troubles)
{
    BOOST_OUTCOME_TRY(revisions, revisions_of(store, model, troubles));
    for (const auto& [revision, listed] : revisions)
        print(model, revision, listed, with_extent ? std::optional{extent_of(store, revision, troubles)} : std::nullopt, output);
    return !revisions.empty();
}

Result<void> list_one(ObjectStore& store, const std::string& model, Output output)
{
    Troubles troubles;
    BOOST_OUTCOME_TRY(any, list_model(store, model, true, output, troubles));
    BOOST_OUTCOME_TRY(troubles.end());
    if (any) return success();
    return failure(Errc::not_found, "model not found: " + model + ": " + store.url() + " has no revision of it", "see 'shoal-seeder ls'");
}

}  // namespace

Result<void> list(const ListOptions& options)
{
    if (!options.model.empty()) {
        BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    }
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store));
    if (!options.model.empty()) return list_one(*store, options.model, options.output);
    BOOST_OUTCOME_TRY(models, objectstore::list_models(*store));
    Troubles troubles;
    for (const std::string& model : models) {
        BOOST_OUTCOME_TRYV(list_model(*store, model, false, options.output, troubles));
    }
    return troubles.end();
}

Result<void> tag(const TagOptions& options)
{
    BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    BOOST_OUTCOME_TRY(model::check_tag(options.tag));
    BOOST_OUTCOME_TRY(revision, parse_revision(options.revision));
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store));
    BOOST_OUTCOME_TRY(objectstore::require_revision(*store, options.model, revision));
    const auto now = objectstore::load_tag(*store, options.model, options.tag);
    const bool same = now && now.value() == revision;
    if (!same && options.dry_run == Dry::no) {
        BOOST_OUTCOME_TRY(
            store->put(objectstore::tag_key(options.model, options.tag), objectstore::encode_pointer(revision), objectstore::Condition::always()));
    }
    print_line(options.model + ":" + options.tag + " " + to_string(revision));
    return success();
}

Result<void> untag(const TagOptions& options)
{
    BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    BOOST_OUTCOME_TRY(model::check_tag(options.tag));
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store));
    const std::string key = objectstore::tag_key(options.model, options.tag);
    const auto there = store->head(key);
    if (!there && there.error().code == Errc::not_found)
        return failure(Errc::not_found, "tag not found: " + options.model + ":" + options.tag + ": " + store->url() + " has no such tag");
    if (!there) return failure(there.error());
    if (options.dry_run == Dry::no) {
        BOOST_OUTCOME_TRY(store->remove(key));
    }
    print_line((options.dry_run == Dry::yes ? "would remove " : "removed ") + options.model + ":" + options.tag);
    return success();
}

}  // namespace shoal::seeder
