#include "seeder/seeder.hpp"

#include "common/obs/log.hpp"
#include "seeder/identity.hpp"
#include "seeder/metered_store.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace shoal::seeder {
namespace {

constexpr unsigned worker_threads = 10;                 // a load each, one that asks whether the store answers, one whether it still holds what is served
constexpr unsigned reader_threads = 32;                 // beside the disk threads, for pieces of many files
constexpr std::size_t ahead_bytes = 32U << 20U;         // of packs that were read ahead
constexpr std::size_t counted_a_second = 32;            // revisions whose traffic is looked at
constexpr Duration busy_for = std::chrono::seconds{2};  // after the last read of the store
constexpr std::size_t longest_trouble = 1000;           // bytes of it in a beat

std::string clipped(const std::string& text)
{
    if (text.size() <= longest_trouble) return text;
    return text.substr(0, longest_trouble / 2) + " ... " + text.substr(text.size() - longest_trouble / 2);  // what is wrong stands first, the cause last
}

std::string listen_host(const std::string& endpoint)
{
    return endpoint.substr(0, endpoint.rfind(':'));
}

obs::Labels labels(const origin::ServedRevision& revision)
{
    return {{"model", revision.manifest->model}, {"revision", to_hex(revision.id).substr(0, 12)}};
}

std::vector<swarm::Member> members(const std::vector<wire::Neighbour>& neighbours)
{
    std::vector<swarm::Member> result;
    result.reserve(neighbours.size());
    for (const wire::Neighbour& neighbour : neighbours)
        result.push_back({neighbour.peer, neighbour.key, neighbour.role == wire::Role::seeder, neighbour.dial, neighbour.endpoints, neighbour.dialable,
            neighbour.holds_some, neighbour.zone});
    return result;
}

void count_failed_piece(obs::Metrics& metrics, double pieces)
{
    metrics.add("shoal_pieces_failed_total", "Pieces whose bytes in the store were not what their digest says.", {}, pieces);
}

origin::OpenSource metered_sources(std::shared_ptr<obs::Metrics> metrics, std::shared_ptr<origin::OriginGate> gate)
{
    return [metrics = std::move(metrics), gate = std::move(gate)](const std::string& url) -> Result<std::shared_ptr<objectstore::ObjectStore>> {
        BOOST_OUTCOME_TRY(store, objectstore::open_store(url));
        return std::shared_ptr<objectstore::ObjectStore>{std::make_shared<MeteredStore>(std::move(store), metrics, gate)};
    };
}

}  // namespace

Result<std::unique_ptr<Seeder>> Seeder::open(
    net::Loop& loop, const ServeOptions& options, std::unique_ptr<objectstore::ObjectStore> store, std::shared_ptr<obs::Metrics> metrics)
{
    std::unique_ptr<Seeder> seeder{new Seeder{loop, options, std::move(store), std::move(metrics)}};
    BOOST_OUTCOME_TRY(seeder->listen());
    return seeder;
}

Seeder::Seeder(net::Loop& loop, const ServeOptions& options, std::unique_ptr<objectstore::ObjectStore> store, std::shared_ptr<obs::Metrics> metrics)
    : loop_{loop},
      options_{options},
      metrics_{std::move(metrics)},
      access_{std::make_shared<origin::OriginGate>(options.origin_limit), std::make_shared<origin::SideBySide>(reader_threads),
          std::make_shared<origin::AheadRoom>(ahead_bytes)},
      store_{std::make_shared<MeteredStore>(std::move(store), metrics_, access_.gate)},
      open_source_{metered_sources(metrics_, access_.gate)},
      notified_{std::make_shared<std::atomic<bool>>(false)},
      workers_{loop, worker_threads},
      watch_{loop, workers_, store_},
      removals_{loop, workers_, store_},
      client_{loop, options.trackers, *this}
{}

Seeder::~Seeder()
{
    access_.gate->close();
}

Result<void> Seeder::listen()
{
    BOOST_OUTCOME_TRY(self, identify(options_, 0));
    self_ = std::move(self);
    swarm::SessionOptions session;
    session.kind = swarm::Kind::seeder;
    session.peer = self_.peer;
    session.key = self_.key;
    session.listen = options_.listen;
    session.upload_limit = options_.upload_limit;
    session.buffer_bytes = options_.cache_bytes;
    session.notify = [this, &loop = loop_, weak = std::weak_ptr{notified_}] {
        const auto notified = weak.lock();
        if (!notified || notified->exchange(true)) return;
        loop.post([this, weak] {
            if (!weak.expired()) on_events();
        });
    };
    BOOST_OUTCOME_TRY(opened, swarm::Session::open(std::move(session)));
    session_ = std::move(opened);
    if (self_.port == 0) self_.port = session_->port();
    return success();
}

std::string Seeder::endpoint() const
{
    return listen_host(options_.listen.front()) + ":" + std::to_string(session_->port());
}

void Seeder::start(std::function<void()> ready)
{
    obey();
    count_failed_piece(*metrics_, 0);
    watch_.start(std::move(ready));
    removals_.start([this] { return in_swarm(); }, [this](const RevisionId& revision, const Error& cause) { on_removed(revision, cause); });
    client_.start();
    tick_ = loop_.every(std::chrono::seconds{1}, [this] {
        count_traffic();
        voice_.look(client_.trackers());
        obey();
        look_busy();
        act();
    });
}

void Seeder::leave(std::function<void()> done)
{
    access_.gate->close();
    tick_.reset();
    client_.leave(std::move(done));
}

wire::Beat Seeder::beat()
{
    wire::Beat beat = self_;
    const TimePoint now = Clock::now();
    beat.origin_rate = slices_.rate(now).value_or(0);
    beat.origin_busy = busy_;
    beat.origin_confirmed = slices_.confirmed(now);
    for (const auto& [revision, served] : wishes_.all()) {
        if (served_.contains(revision) || !served.trouble.empty()) beat.holdings.push_back(holding(revision, served));
    }
    return beat;
}

wire::Holding Seeder::holding(const RevisionId& revision, const Served& served) const
{
    wire::Holding holding;
    holding.revision = revision;
    holding.model = served.model;
    holding.state = served.refused ? wire::HoldState::withdrawn : served_.contains(revision) ? wire::HoldState::held : wire::HoldState::wanted;
    holding.trouble = clipped(served.trouble);
    holding.missing = served.refused && served.missing;
    const Moved moved = traffic_.total(revision);
    holding.from_origin = moved.from_origin;
    holding.sent = moved.sent;
    if (const auto in_swarm = served_.find(revision); in_swarm != served_.end()) {
        holding.model = in_swarm->second.manifest->model;
        holding.bytes_total = holding.bytes_have = in_swarm->second.manifest->bytes();
    }
    return holding;
}

void Seeder::on_reply(const wire::Reply& reply)
{
    voice_.heard(reply);
    neighbourhood_.heard(reply.tracker, reply);
    session_->let_in(neighbourhood_.stock_clients() ? swarm::Strangers::let_in : swarm::Strangers::kept_out);
    const TimePoint now = Clock::now();
    slices_.heard(reply, now);
    obey();
    for (const wire::Wish& wish : reply.wishes) wishes_.wished(wish.revision, wish.model, now);
    for (const wire::Swarm& swarm : reply.swarms) {
        if (swarm.wanting > 0) wishes_.wished(swarm.revision, swarm.model, now);
        if (served_.contains(swarm.revision)) introduce(swarm.revision);
    }
    act();
}

void Seeder::introduce(const RevisionId& revision)
{
    session_->set_members(revision, members(neighbourhood_.neighbours(revision)), neighbourhood_.zone());
    session_->set_seeders(revision, neighbourhood_.seeders(revision), neighbourhood_.origin_copies());
}

void Seeder::obey()
{
    std::optional<std::uint64_t> ceiling = slices_.rate(Clock::now());
    if (options_.origin_limit > 0) ceiling = std::min(ceiling.value_or(options_.origin_limit), options_.origin_limit);
    access_.gate->set_ceiling(ceiling);
    metrics_->set("shoal_origin_limit_bytes", "Ceiling on bytes per second from the object store, 0 for none.", {}, static_cast<double>(ceiling.value_or(0)));
}

void Seeder::look_busy()
{
    const TimePoint now = Clock::now();
    if (access_.gate->was_asked()) busy_until_ = now + busy_for;
    const bool before = std::exchange(busy_, now < busy_until_);
    if (before != busy_) client_.beat_now();
}

void Seeder::act()
{
    for (const ServeAction& action : wishes_.next(Clock::now())) {
        switch (action.kind) {
        case ServeAction::Kind::load: load(action.revision); break;
        case ServeAction::Kind::resume: session_->resume(action.revision); break;
        case ServeAction::Kind::drop:
            obs::log(obs::Level::info, "nobody wants a revision any more", {{"revision", to_string(action.revision)}});
            drop(action.revision);
            break;
        }
    }
}

void Seeder::load(const RevisionId& revision)
{
    const auto result = std::make_shared<std::optional<Result<origin::ServedRevision>>>();
    const auto bad = bad_pieces_.find(revision);
    const auto job = [store = store_, revision, open = open_source_, access = access_, suspect = bad == bad_pieces_.end() ? std::nullopt : bad->second,
                         result] {
        *result = origin::load_revision(store, revision, open, access);
        if (!**result || !suspect) return;
        if (Result<void> proven = origin::prove((*result)->value(), *suspect); !proven) *result = failure(proven.error());
    };
    if (!workers_.run(job, [this, revision, result] { loaded(revision, **result); }))
        wishes_.load_failed(revision, {Errc::io, "loading " + to_string(revision) + ": too much is waiting for the store", {}}, Clock::now());
}

void Seeder::loaded(const RevisionId& revision, const Result<origin::ServedRevision>& result)
{
    if (!result) {
        load_failed(revision, result.error());
    } else {
        bad_pieces_.erase(revision);
        wishes_.loaded(revision);
        if (const Result<void> joined = join(result.value()); !joined) load_failed(revision, joined.error());
    }
    client_.beat_now();
    act();
}

void Seeder::load_failed(const RevisionId& revision, const Error& error)
{
    if (wishes_.all().at(revision).trouble != error.text())
        obs::log(obs::Level::error, "a wanted revision cannot be served", {{"revision", to_string(revision)}, {"cause", error.text()}});
    wishes_.load_failed(revision, error, Clock::now());
}

Result<void> Seeder::join(const origin::ServedRevision& revision)
{
    const std::size_t pieces = revision.layout->pieces();
    if (pieces > 0) {  // of nothing but empty files there is nothing to ask for
        swarm::Torrent torrent;
        torrent.revision = revision.id;
        torrent.layout = revision.layout;
        torrent.layers = revision.layers;
        torrent.storage = revision.storage;
        torrent.have.assign(pieces, true);
        BOOST_OUTCOME_TRY(session_->add(std::move(torrent)));
    }
    served_.insert_or_assign(revision.id, revision);
    busy_until_ = Clock::now() + busy_for;
    look_busy();
    introduce(revision.id);
    obs::log(obs::Level::info, "serving a revision",
        {{"model", revision.manifest->model}, {"revision", to_string(revision.id)}, {"files", std::to_string(revision.manifest->files.size())},
            {"bytes", std::to_string(revision.manifest->bytes())}});
    metrics_->set("shoal_revision_bytes", "Bytes of a revision that is served.", labels(revision), static_cast<double>(revision.manifest->bytes()));
    return success();
}

void Seeder::drop(const RevisionId& revision)
{
    const auto served = served_.find(revision);
    if (served == served_.end()) return;
    count_traffic(served->second);
    session_->remove(revision);
    traffic_.removed(revision);
    metrics_->drop("shoal_revision_bytes", labels(served->second));
    served_.erase(served);
}

void Seeder::on_events()
{
    notified_->store(false);
    for (const swarm::Event& event : session_->poll()) {
        if (const auto* failed = std::get_if<swarm::StorageFailed>(&event)) on_storage_failed(*failed);
        if (const auto* failed = std::get_if<swarm::ListenFailed>(&event))
            obs::log(obs::Level::warning, "cannot listen", {{"endpoint", failed->endpoint}, {"cause", failed->cause}});
    }
}

void Seeder::on_storage_failed(const swarm::StorageFailed& failed)
{
    if (!served_.contains(failed.revision)) return;      // withdrawn a moment ago, for another piece
    if (failed.error.code == Errc::interrupted) return;  // we are leaving
    const Wishes::Verdict verdict = wishes_.storage_failed(failed.revision, failed.error, Clock::now());
    if (verdict == Wishes::Verdict::withdraw) {
        if (failed.error.code == Errc::integrity) count_failed_piece(*metrics_, 1);
        obs::log(obs::Level::error, "a revision is withdrawn", {{"revision", to_string(failed.revision)}, {"cause", failed.error.text()}});
        bad_pieces_.insert_or_assign(failed.revision, served_.at(failed.revision).storage->bad_piece());
        drop(failed.revision);
    } else {
        obs::log(obs::Level::warning, "a revision waits for the store", {{"revision", to_string(failed.revision)}, {"cause", failed.error.text()}});
    }
    client_.beat_now();
    act();
}

// Whoever removed it wants nobody to get it any more; its pieces may still lie in memory.
void Seeder::on_removed(const RevisionId& revision, const Error& cause)
{
    const auto served = served_.find(revision);
    if (served == served_.end()) return;
    const Error why{Errc::not_found,
        "revision was removed from the store: " + served->second.manifest->model + "@" + to_string(revision) + ": " + cause.message,
        "publish it again, or ask for another revision"};
    wishes_.load_failed(revision, why, Clock::now());
    obs::log(obs::Level::warning, "a revision is withdrawn", {{"revision", to_string(revision)}, {"cause", why.text()}});
    drop(revision);
    client_.beat_now();
    act();
}

std::vector<RevisionId> Seeder::in_swarm() const
{
    std::vector<RevisionId> revisions;
    revisions.reserve(served_.size());
    for (const auto& [revision, served] : served_) revisions.push_back(revision);
    return revisions;
}

// A few in turn: each asks the network thread and waits for it.
void Seeder::count_traffic()
{
    for (std::size_t i = 0; i < std::min(served_.size(), counted_a_second); ++i) {
        auto next = served_.upper_bound(counted_);
        if (next == served_.end()) next = served_.begin();
        counted_ = next->first;
        count_traffic(next->second);
    }
    std::erase_if(bad_pieces_, [this](const auto& bad) { return !wishes_.all().contains(bad.first); });
    traffic_.keep([this](const RevisionId& revision) { return wishes_.all().contains(revision); });
}

void Seeder::count_traffic(const origin::ServedRevision& served)
{
    const auto stats = session_->stats(served.id);
    const Moved fresh = traffic_.now(served.id, {served.storage->bytes_read(), stats ? stats->sent : 0});  // without an answer: no less than before
    metrics_->add("shoal_sent_bytes_total", "Payload bytes given to peers.", {}, static_cast<double>(fresh.sent));
}

}  // namespace shoal::seeder
