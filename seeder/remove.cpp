#include "seeder/remove.hpp"

#include "common/core/quantity.hpp"
#include "common/model/layout.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"
#include "common/obs/log.hpp"
#include "seeder/crew.hpp"
#include "seeder/event_line.hpp"
#include "seeder/removal.hpp"
#include "seeder/tracker_question.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace shoal::seeder {
namespace {

using objectstore::ObjectStore;

constexpr const char* manifests_prefix = "manifests/";

class Removal {
public:
    Removal(const RemoveOptions& options, const Stop& stop, ObjectStore& store, const RevisionId& revision)
        : options_{options}, stop_{stop}, store_{store}, revision_{revision}
    {}

    Result<void> run()
    {
        BOOST_OUTCOME_TRY(find());
        BOOST_OUTCOME_TRY(refuse_tagged());
        if (options_.ask == Ask::trackers && !resumed_) {
            BOOST_OUTCOME_TRY(ask_trackers(options_.trackers, revision_, stop_));
        }
        if (options_.dry_run == Dry::no) {
            BOOST_OUTCOME_TRY(announce());
        }
        auto blobs = blobs_to_remove();
        if (!blobs) {
            if (options_.dry_run == Dry::no && !resumed_) (void)store_.remove(objectstore::removal_key(revision_));  // nothing has been removed
            return failure(blobs.error());
        }
        if (options_.dry_run == Dry::no) {
            BOOST_OUTCOME_TRY(remove_names());
            BOOST_OUTCOME_TRY(remove_blobs(blobs.value()));
        }
        report(blobs.value());
        return success();
    }

private:
    // The manifest: in the store, or written down by a removal that did not end.
    Result<void> find()
    {
        const auto record = objectstore::require_revision(store_, options_.model, revision_);
        if (!record && record.error().code != Errc::not_found) return failure(record.error());
        if (record) {
            auto loaded = objectstore::load_manifest(store_, revision_);
            if (loaded)
                manifest_ = std::move(loaded).value();
            else if (loaded.error().code == Errc::io || loaded.error().code == Errc::timed_out || loaded.error().code == Errc::not_allowed)
                return failure(loaded.error());
            else
                obs::log(obs::Level::warning, "the manifest cannot be read, its blobs stay: " + loaded.error().message);
            return success();
        }
        const auto written = store_.get(objectstore::removal_key(revision_), model::max_manifest_bytes);
        if (!written) return failure(written.error().code == Errc::not_found || written.error().code == Errc::too_large ? record.error() : written.error());
        auto manifest = model::decode_manifest(written.value().content);
        if (!manifest || model::revision_of(written.value().content) != revision_ || manifest.value().model != options_.model) return failure(record.error());
        manifest_ = objectstore::PublishedRevision{revision_, written.value().content, std::move(manifest).value()};
        resumed_ = true;
        return success();
    }

    [[nodiscard]] Result<void> refuse_tagged() const
    {
        BOOST_OUTCOME_TRY(tags, objectstore::list_tags(store_, options_.model));
        if (!tags.troubles.empty())  // it may be the one that names this revision
            return failure(
                tags.troubles.front().code, "cannot tell whether the revision is tagged: " + tags.troubles.front().message, tags.troubles.front().hint);
        std::string names;
        for (const objectstore::TagRecord& record : tags.items)
            if (record.revision == revision_) names += (names.empty() ? "" : ", ") + options_.model + ":" + record.tag;
        if (names.empty()) return success();
        return failure(Errc::not_allowed, "revision is tagged: " + to_string(revision_) + ": " + names, "untag it first, or move the tag to another revision");
    }

    // Every other manifest is looked at, also those whose publish is still under way. One that cannot be read might share anything.
    Result<void> for_each_other(const std::function<void(const objectstore::PublishedRevision&)>& look) const
    {
        std::string after;
        do {
            BOOST_OUTCOME_TRY(page, store_.list(manifests_prefix, after, 1000));
            for (const objectstore::ObjectInfo& object : page.objects) {
                if (stop_.requested()) return failure(Crew::given_up());
                BOOST_OUTCOME_TRY(look_at(object.key, look));
            }
            after = page.next;
        } while (!after.empty());
        return success();
    }

    Result<void> look_at(const std::string& key, const std::function<void(const objectstore::PublishedRevision&)>& look) const
    {
        const auto id = id_from_hex<RevisionId>(std::string_view{key}.substr(std::string_view{manifests_prefix}.size(), 64));
        if (!id || objectstore::manifest_key(id.value()) != key)
            return failure(Errc::integrity, "cannot tell which blobs are shared: " + store_.url() + " key '" + model::printable(key) + "' is no manifest",
                "remove that object");
        if (id.value() == revision_) return success();
        auto other = objectstore::load_manifest(store_, id.value());
        if (other) look(other.value());
        if (other || other.error().code == Errc::not_found) return success();  // removed meanwhile
        return failure(Error{other.error().code, "cannot tell which blobs are shared: " + other.error().message,
            "nothing was removed; publish that revision again, or remove it first"});
    }

    [[nodiscard]] Result<std::set<Digest>> blobs_to_remove() const
    {
        if (!manifest_) return std::set<Digest>{};
        UnsharedBlobs unshared{manifest_->manifest};
        BOOST_OUTCOME_TRY(for_each_other([&](const objectstore::PublishedRevision& other) { unshared.keep(other.manifest); }));
        return unshared.roots();
    }

    // Before the other manifests are looked at: a publish that writes its manifest after that look finds this, and waits for what we take.
    [[nodiscard]] Result<void> announce() const
    {
        if (manifest_) {
            BOOST_OUTCOME_TRY(store_.put(objectstore::removal_key(revision_), manifest_->manifest_bytes, objectstore::Condition::always()));
        }
        return success();
    }

    [[nodiscard]] Result<void> remove_names() const
    {
        BOOST_OUTCOME_TRY(store_.remove(objectstore::revision_key(options_.model, revision_)));
        BOOST_OUTCOME_TRY(store_.remove(objectstore::manifest_key(revision_)));
        BOOST_OUTCOME_TRY(store_.remove(objectstore::location_key(revision_)));
        return store_.remove(objectstore::layers_key(revision_));
    }

    [[nodiscard]] Result<void> remove_blobs(const std::set<Digest>& blobs) const
    {
        for (const Digest& blob : blobs) {
            if (stop_.requested()) return failure(Crew::given_up());
            BOOST_OUTCOME_TRY(store_.remove(objectstore::blob_key(blob)));
        }
        BOOST_OUTCOME_TRY(store_.remove(objectstore::removal_key(revision_)));
        return tell_what_was_hurt();
    }

    // A publish that began before and relied on one of these blobs: it looks again when its names are written, unless it had done so before we deleted.
    [[nodiscard]] Result<void> tell_what_was_hurt() const
    {
        if (!manifest_) return success();
        const UnsharedBlobs removed{manifest_->manifest};
        std::string hurt;
        BOOST_OUTCOME_TRY(for_each_other([&](const objectstore::PublishedRevision& other) {
            if (removed.concerns(other.manifest) && lacks_blobs(other)) hurt += (hurt.empty() ? "" : ", ") + other.manifest.model + " " + to_string(other.id);
        }));
        if (hurt.empty()) return success();
        return failure(Errc::integrity, "a revision published meanwhile lacks blobs: " + hurt, "publish it again from its source");
    }

    [[nodiscard]] bool lacks_blobs(const objectstore::PublishedRevision& other) const
    {
        const auto location = objectstore::load_location(store_, other);
        if (!location || !location.value().root.empty()) return false;
        const model::Layout layout{other.manifest};
        return std::any_of(layout.files().begin(), layout.files().end(), [this](const model::SwarmFile& file) {
            const auto blob = store_.head(objectstore::blob_key(file.pieces_root));
            return !blob && blob.error().code == Errc::not_found;
        });
    }

    void report(const std::set<Digest>& blobs) const
    {
        const bool dry = options_.dry_run == Dry::yes;
        if (options_.output == Output::json)
            return print_event(
                {{"event", dry ? "would-remove" : "removed"}, {"model", options_.model}, {"revision", to_string(revision_)}, {"blobs", blobs.size()}});
        print_line((dry ? "would remove " : "removed ") + options_.model + " " + to_string(revision_) + " and its " + std::to_string(blobs.size()) +
                   " blobs that nothing else shares");
    }

    const RemoveOptions& options_;
    const Stop& stop_;
    ObjectStore& store_;
    RevisionId revision_;
    std::optional<objectstore::PublishedRevision> manifest_;  // none: it cannot be read
    bool resumed_ = false;
};

}  // namespace

Result<void> remove(const RemoveOptions& options, const Stop& stop)
{
    BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    BOOST_OUTCOME_TRY(revision, parse_revision(options.revision));
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store, [&stop] { return !stop.requested(); }));
    return Removal{options, stop, *store, revision}.run();
}

}  // namespace shoal::seeder
