#include "seeder/store_writes.hpp"

#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"
#include "common/obs/log.hpp"
#include "seeder/crew.hpp"
#include "seeder/removal.hpp"

#include <thread>

namespace shoal::seeder {
namespace {

using objectstore::Condition;
using objectstore::ObjectStore;

Result<Found> compare(ObjectStore& store, const std::string& key, std::string_view content)
{
    const auto there = store.get(key, content.size());
    if (there) return there.value().content == content ? Found::same : Found::other;
    if (there.error().code == Errc::not_found) return Found::missing;
    if (there.error().code == Errc::too_large) return Found::other;
    return failure(there.error());
}

// Content that follows from its key: who was faster wrote the same, and what is damaged is put right.
Result<void> write(ObjectStore& store, const std::string& key, std::string_view content)
{
    const auto put = store.put(key, content, Condition::absent());
    if (put) return success();
    if (put.error().code != Errc::exists) return failure(put.error());
    BOOST_OUTCOME_TRY(found, compare(store, key, content));
    if (found == Found::same) return success();
    BOOST_OUTCOME_TRY(store.put(key, content, Condition::always()));
    return success();
}

constexpr std::size_t page_size = 1000;
constexpr std::chrono::milliseconds between_looks{50};

// The key of an announced removal that takes blobs of `ours`, or empty.
Result<std::string> removal_beside(ObjectStore& store, const UnsharedBlobs& ours)
{
    std::string after;
    do {
        BOOST_OUTCOME_TRY(page, store.list(std::string{objectstore::removals_prefix}, after, page_size));
        for (const objectstore::ObjectInfo& object : page.objects) {
            const auto announced = store.get(object.key, model::max_manifest_bytes);
            const auto removed = announced ? model::decode_manifest(announced.value().content) : Result<model::Manifest>{failure(announced.error())};
            if (removed && ours.concerns(removed.value())) return object.key;
        }
        after = page.next;
    } while (!after.empty());
    return std::string{};
}

}  // namespace

Result<StoreFacts> look(ObjectStore& store, const SmallObjects& objects, const model::Manifest& manifest)
{
    StoreFacts facts;
    BOOST_OUTCOME_TRY(in_manifest, compare(store, objectstore::manifest_key(objects.revision), objects.manifest));
    BOOST_OUTCOME_TRY(in_layers, compare(store, objectstore::layers_key(objects.revision), objects.layers));
    const std::string pointer = objectstore::encode_pointer(objects.revision);
    BOOST_OUTCOME_TRY(in_record, compare(store, objectstore::revision_key(objects.model, objects.revision), pointer));
    facts.manifest = in_manifest;
    facts.layers = in_layers;
    facts.record = in_record;
    auto location = objectstore::load_location(store, {objects.revision, objects.manifest, manifest});
    if (location)
        facts.location = std::move(location).value();
    else if (location.error().code != Errc::not_found && location.error().code != Errc::integrity)  // what is damaged is put right
        return failure(location.error());
    for (const std::string& tag : objects.tags) {
        BOOST_OUTCOME_TRY(found, compare(store, objectstore::tag_key(objects.model, tag), pointer));
        facts.tags.push_back(found);
    }
    return facts;
}

Result<std::optional<std::uint64_t>> blob_size(ObjectStore& store, const Digest& root)
{
    const auto info = store.head(objectstore::blob_key(root));
    if (info) return std::optional<std::uint64_t>{info.value().size};
    if (info.error().code == Errc::not_found) return std::optional<std::uint64_t>{};
    return failure(info.error());
}

Result<void> write_names(ObjectStore& store, const SmallObjects& objects, const PublishPlan& plan)
{
    const std::string pointer = objectstore::encode_pointer(objects.revision);
    if (plan.layers) {
        BOOST_OUTCOME_TRY(write(store, objectstore::layers_key(objects.revision), objects.layers));
    }
    if (plan.location) {
        BOOST_OUTCOME_TRY(store.put(objectstore::location_key(objects.revision), objectstore::encode(*plan.location), Condition::always()));
    }
    if (plan.manifest) {
        BOOST_OUTCOME_TRY(write(store, objectstore::manifest_key(objects.revision), objects.manifest));
    }
    if (plan.record) {
        BOOST_OUTCOME_TRY(write(store, objectstore::revision_key(objects.model, objects.revision), pointer));
    }
    for (const std::size_t tag : plan.tags) {
        BOOST_OUTCOME_TRY(store.put(objectstore::tag_key(objects.model, objects.tags[tag]), pointer, Condition::always()));
    }
    return success();
}

Result<void> wait_for_removals(ObjectStore& store, const model::Manifest& manifest, Duration within, const std::function<bool()>& keep_going)
{
    const UnsharedBlobs ours{manifest};
    const TimePoint end = Clock::now() + within;
    while (true) {
        BOOST_OUTCOME_TRY(beside, removal_beside(store, ours));
        if (beside.empty()) return success();
        if (!keep_going()) return failure(Crew::given_up());
        if (Clock::now() >= end) {
            obs::log(obs::Level::warning,
                "a removal was not finished; it takes blobs of this revision if it is run again: " + store.url() + " key '" + beside + "'");
            return success();
        }
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace shoal::seeder
