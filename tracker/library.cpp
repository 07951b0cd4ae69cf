#include "tracker/library.hpp"

#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/torrent.hpp"
#include "common/objectstore/keys.hpp"
#include "common/obs/log.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shoal::tracker {
namespace {

using objectstore::ObjectStore;
using Value = ByteCache::Value;

constexpr unsigned threads = 4;
constexpr std::size_t max_layers_bytes = std::size_t{model::max_pieces} * Digest::size;

template <typename T>
Value value_of(Result<T> result)
{
    if (!result) return failure(result.error());
    return std::shared_ptr<const void>{std::make_shared<const T>(std::move(result.value()))};
}

template <typename T>
std::size_t bytes_of(const Result<std::vector<T>>& items)
{
    return items ? items.value().size() * 128 : 0;
}

template <typename T>
std::size_t bytes_of(const Result<objectstore::Listing<T>>& listing)
{
    return listing ? listing.value().items.size() * 128 + listing.value().troubles.size() * 512 : 0;
}

std::size_t bytes_of(const Result<std::string>& text)
{
    return text ? text.value().size() : 0;
}

Result<std::string> get(ObjectStore& store, const std::string& key, std::size_t limit, const std::string& what)
{
    BOOST_OUTCOME_TRY(object, objectstore::load_object(store, key, limit, what));
    return std::move(object.content);
}

Result<model::Layout> load_layout(ObjectStore& store, const RevisionId& revision)
{
    BOOST_OUTCOME_TRY(published, objectstore::load_manifest(store, revision));
    return model::Layout{published.manifest};
}

Result<Summary> load_summary(ObjectStore& store, const RevisionId& revision)
{
    BOOST_OUTCOME_TRY(published, objectstore::load_manifest(store, revision));
    const model::Manifest& manifest = published.manifest;
    const model::Layout layout{manifest};
    return Summary{manifest.model, manifest.bytes(), manifest.files.size(), manifest.piece_size, layout.pieces(), manifest.data_version,
        manifest.transform_version, model::info_hash(layout, revision)};
}

Result<void> check_layers(ObjectStore& store, const RevisionId& revision, std::string_view bytes)
{
    BOOST_OUTCOME_TRY(layout, load_layout(store, revision));
    BOOST_OUTCOME_TRYV(model::decode_layers(bytes, layout));
    return success();
}

Result<std::string> load_torrent(ObjectStore& store, const RevisionId& revision)
{
    BOOST_OUTCOME_TRY(layout, load_layout(store, revision));
    BOOST_OUTCOME_TRY(bytes, objectstore::load_layers(store, revision, layout));
    BOOST_OUTCOME_TRY(layers, model::decode_layers(bytes, layout));
    return model::torrent_file(layout, layers, revision);
}

void report_damage(const std::string& url, const std::string& key, const std::string& cause)
{
    obs::log(obs::Level::error, "the store holds wrong bytes", {{"store", url}, {"key", key}, {"cause", cause}});
}

}  // namespace

Library::Library(net::Loop& loop, ObjectStore& store, std::size_t cache_bytes, std::function<TimePoint()> now, Duration patience)
    : loop_{loop}, store_{store}, now_{std::move(now)}, patience_{patience}, cache_{cache_bytes}, workers_{loop, threads}
{}

// Whoever has read it once could serve it from memory for good: a revision that was removed must not be found again.
template <typename T>
void Library::ask_of(const RevisionId& revision, const std::string& what, Load load, Done<T> done)
{
    const std::string key = what + " " + to_hex(revision);
    const auto known = cache_.get(key, now_());
    if (!known || !*known) {
        ask<T>(key, load, std::move(done));
        return;
    }
    const auto look = [revision](ObjectStore& store) {
        const auto found = store.head(objectstore::manifest_key(revision));
        const bool removed = !found && found.error().code == Errc::not_found;
        return Loaded{found ? value_of(Result<bool>{true}) : Value{failure(found.error())}, 1, false, removed ? brief : believed};
    };
    const auto looked = [this, revision, key, load = std::move(load), done = std::move(done)](const Value& there) {
        if (!there && there.error().code == Errc::not_found) forget(revision);
        ask<T>(key, load, done);
    };
    ask_value("there " + to_hex(revision), look, looked, glance);
}

void Library::forget(const RevisionId& revision)
{
    for (const char* what : {"manifest", "layers", "summary", "torrent"}) cache_.forget(std::string{what} + " " + to_hex(revision));
}

template <typename T>
void Library::ask(const std::string& key, const Load& load, Done<T> done)
{
    ask_value(key, load, [done = std::move(done)](const Value& value) {
        if (!value)
            done(failure(value.error()));
        else
            done(std::static_pointer_cast<const T>(value.value()));
    });
}

void Library::manifest(const RevisionId& revision, Done<std::string> done)
{
    const auto load = [revision](ObjectStore& store) {
        const std::string key = objectstore::manifest_key(revision);
        auto bytes = get(store, key, model::max_manifest_bytes, "revision " + to_string(revision));
        const bool right = bytes && model::revision_of(bytes.value()) == revision;
        if (bytes && !right) report_damage(store.url(), key, "their digest is not the revision");
        const std::size_t size = bytes_of(bytes);
        return Loaded{value_of(std::move(bytes)), size, right};
    };
    ask_of<std::string>(revision, "manifest", load, std::move(done));
}

void Library::layers(const RevisionId& revision, Done<std::string> done)
{
    const auto load = [revision](ObjectStore& store) {
        const std::string key = objectstore::layers_key(revision);
        auto bytes = get(store, key, max_layers_bytes, "layers of " + to_string(revision));
        const auto checked = bytes ? check_layers(store, revision, bytes.value()) : Result<void>{success()};
        if (!checked) report_damage(store.url(), key, checked.error().message);
        const bool right = bytes && checked;
        const std::size_t size = bytes_of(bytes);
        return Loaded{value_of(std::move(bytes)), size, right};
    };
    ask_of<std::string>(revision, "layers", load, std::move(done));
}

void Library::summary(const RevisionId& revision, Done<Summary> done)
{
    const auto load = [revision](ObjectStore& store) {
        auto summary = load_summary(store, revision);
        const bool right = summary.has_value();
        return Loaded{value_of(std::move(summary)), sizeof(Summary), right};
    };
    ask_of<Summary>(revision, "summary", load, std::move(done));
}

void Library::torrent(const RevisionId& revision, Done<std::string> done)
{
    const auto load = [revision](ObjectStore& store) {
        auto torrent = load_torrent(store, revision);
        const bool right = torrent.has_value();
        const std::size_t size = bytes_of(torrent);
        return Loaded{value_of(std::move(torrent)), size, right};
    };
    ask_of<std::string>(revision, "torrent", load, std::move(done));
}

void Library::tag(const std::string& model, const std::string& tag, Done<RevisionId> done)
{
    const auto load = [model, tag](ObjectStore& store) { return Loaded{value_of(objectstore::load_tag(store, model, tag)), sizeof(RevisionId), false}; };
    ask<RevisionId>("tag " + model + " " + tag, load, std::move(done));
}

void Library::models(Done<std::vector<std::string>> done)
{
    const auto load = [](ObjectStore& store) {
        auto names = objectstore::list_models(store);
        const std::size_t size = bytes_of(names);
        return Loaded{value_of(std::move(names)), size, false};
    };
    ask<std::vector<std::string>>("models", load, std::move(done));
}

void Library::tags(const std::string& model, Done<objectstore::Listing<objectstore::TagRecord>> done)
{
    const auto load = [model](ObjectStore& store) {
        auto records = objectstore::list_tags(store, model);
        const std::size_t size = bytes_of(records);
        return Loaded{value_of(std::move(records)), size, false};
    };
    ask<objectstore::Listing<objectstore::TagRecord>>("tags " + model, load, std::move(done));
}

void Library::revisions(const std::string& model, Done<objectstore::Listing<RevisionId>> done)
{
    const auto load = [model](ObjectStore& store) {
        auto ids = objectstore::list_revisions(store, model);
        const std::size_t size = bytes_of(ids);
        return Loaded{value_of(std::move(ids)), size, false};
    };
    ask<objectstore::Listing<RevisionId>>("revisions " + model, load, std::move(done));
}

void Library::is_published(const std::string& model, const RevisionId& revision, Done<bool> done)
{
    const auto load = [model, revision](ObjectStore& store) {
        const auto found = store.head(objectstore::revision_key(model, revision));
        return Loaded{found ? value_of(Result<bool>{true}) : Value{failure(found.error())}, 1, false};
    };
    ask<bool>("published " + model + " " + to_hex(revision), load, std::move(done));
}

void Library::probe(std::function<void(Result<void>)> done)
{
    const auto load = [](ObjectStore& store) {
        const auto page = store.list("models/", "", 1);
        return Loaded{page ? value_of(Result<bool>{true}) : Value{failure(page.error())}, 1, false};
    };
    ask<bool>("probe", load, [done = std::move(done)](const Result<std::shared_ptr<const bool>>& answered) {
        done(answered ? Result<void>{success()} : Result<void>{failure(answered.error())});
    });
}

std::size_t Library::waiting() const
{
    return std::accumulate(flights_.begin(), flights_.end(), std::size_t{0}, [](std::size_t sum, const auto& flight) { return sum + flight.second.size(); });
}

// --- one flight for each thing

void Library::ask_value(const std::string& key, Load load, std::function<void(const Value&)> done, Duration within)
{
    if (const auto known = cache_.get(key, now_())) {
        done(*known);
        return;
    }
    const bool first = !flights_.contains(key);
    wait(key, std::move(done), std::min(within, patience_));
    if (!first) return;
    const auto loaded = std::make_shared<Loaded>(Loaded{failure(Errc::internal, "not loaded"), 0, false});
    const bool taken = workers_.run([this, load = std::move(load), loaded] { *loaded = load(store_); }, [this, key, loaded] { landed(key, *loaded); });
    if (!taken) landed(key, {failure(Errc::timed_out, "store: " + store_.url() + ": too many reads wait", "try again later"), 0, false});
}

void Library::wait(const std::string& key, std::function<void(const Value&)> done, Duration within)
{
    auto waiter = std::make_shared<Waiter>(Waiter{std::move(done), {}});
    waiter->deadline = loop_.after(within, [this, key, weak = std::weak_ptr{waiter}] {
        if (const auto late = weak.lock()) give_up(key, late);
    });
    flights_[key].push_back(std::move(waiter));
}

// The read goes on, however long it takes; who asked does not wait for it, nor is remembered.
void Library::give_up(const std::string& key, const std::shared_ptr<Waiter>& late)
{
    const auto flight = flights_.find(key);
    if (flight == flights_.end() || std::erase(flight->second, late) == 0) return;
    late->done(failure(Errc::timed_out, "store: " + store_.url() + ": no answer within " + std::to_string(patience_ / std::chrono::seconds{1}) + " s"));
}

void Library::landed(const std::string& key, const Loaded& loaded)
{
    cache_.put(key, loaded.value, loaded.bytes, loaded.lasting ? std::nullopt : std::optional{now_() + loaded.until});
    const auto flight = flights_.extract(key);
    for (const auto& waiter : flight.mapped()) {
        waiter->deadline.reset();
        waiter->done(loaded.value);
    }
}

}  // namespace shoal::tracker
