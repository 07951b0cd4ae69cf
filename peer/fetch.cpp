#include "peer/fetch.hpp"

#include "common/core/quantity.hpp"
#include "common/obs/log.hpp"
#include "peer/destination_scan.hpp"
#include "peer/linger.hpp"
#include "peer/process_identity.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace shoal::peer {
namespace {

constexpr Duration claim_poll = std::chrono::milliseconds{200};
constexpr Duration disk_retry = std::chrono::seconds{2};
constexpr Duration hope = std::chrono::seconds{2};  // for members that are being connected
constexpr Duration linger_poll = std::chrono::milliseconds{100};

std::string utc_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::string text(32, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
    return text;
}

std::string duration_text(Duration duration)
{
    return format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(duration));
}

std::optional<RevisionFinder::Instead> instead_of_trackers(const std::shared_ptr<StoreAccess>& store, net::Workers* readers, Duration stall_timeout)
{
    if (!store) return std::nullopt;
    return RevisionFinder::Instead{store, *readers, turn_of_trackers(stall_timeout, random_seed())};
}

}  // namespace

Fetch::Fetch(net::Loop& loop, FetchRequest request, Presence presence, Report& report, std::function<void(Result<void>)> done)
    : loop_{loop},
      request_{std::move(request)},
      report_{report},
      node_{presence.node},
      done_{std::move(done)},
      transfer_{loop, presence, *this},
      store_{request_.store.empty() ? nullptr : std::make_shared<StoreAccess>(request_.store, presence.download_limit)},
      store_readers_{store_ ? std::make_unique<net::Workers>(loop, most_origin_reads) : nullptr},
      finder_{loop, transfer_.trackers(), instead_of_trackers(store_, store_readers_.get(), request_.stall_timeout)},
      disk_{std::make_unique<net::Workers>(loop, 1)},
      renewing_{std::make_unique<net::Workers>(loop, 1)}
{}

// The claim is given back when nobody writes any more; what nothing was staged in goes.
Fetch::~Fetch()
{
    *cancelled_ = true;
    if (store_) store_->close();
    store_readers_.reset();
    disk_.reset();
    renewing_.reset();
    transfer_.drop();
    const std::shared_ptr<Claim> claim = std::move(attempt_.errand.claim);
    attempt_ = {};
    if (!claim) return;
    std::error_code ignored;
    const bool staged = data_ && std::filesystem::exists(request_.site.data(data_->revision), ignored);
    const bool recorded = std::filesystem::exists(request_.site.earlier(), ignored) || std::filesystem::exists(request_.site.intent(), ignored);
    if (staged || recorded || !claim->remove()) claim->release();
    remove_empty(request_.site);
}

template <typename T>
void Fetch::in_background(std::function<Result<T>()> job, void (Fetch::*next)(Result<T>))
{
    auto slot = std::make_shared<std::optional<Result<T>>>();
    const bool taken = disk_->run([slot, job = std::move(job)] { slot->emplace(job()); },
        [this, slot, next] {
            if (!ended_) (this->*next)(std::move(**slot));
        });
    if (!taken) fail({Errc::internal, "too much work waits for the disk: " + subject(), {}});
}

void Fetch::start()
{
    started_ = Clock::now();
    timeout_timer_ = loop_.after(request_.timeout, [this] {
        fail({Errc::timed_out, "fetch did not end in time: " + subject() + ": not within " + duration_text(request_.timeout) + ", " + why_nothing_comes(),
            "raise --timeout; what is there is kept"});
    });
    if (request_.revision_known) return resolved(request_.ask.revision);
    in_background<DestinationFacts>([site = request_.site] { return look_at_marker(site); }, &Fetch::marker_seen);
}

void Fetch::interrupt()
{
    fail({Errc::interrupted, "fetch was interrupted: " + subject(), "run it again, it goes on from what is there"});
}

void Fetch::marker_seen(Result<DestinationFacts> facts)
{
    if (!facts) return fail(facts.error());
    if (facts.value().marker && facts.value().marker->marker.model == request_.ask.model && facts.value().marker->marker.tag == request_.ask.tag)
        held_ = std::move(facts.value().marker->marker);
    const Duration within = held_ ? std::min(request_.held_tag_patience, patience()) : patience();
    finder_.tag(request_.ask.model, request_.ask.tag, within, [this](Result<RevisionId> revision) {
        if (!ended_) tag_resolved(std::move(revision));
    });
}

void Fetch::tag_resolved(Result<RevisionId> revision)
{
    if (revision) return resolved(revision.value());
    if (!held_ || revision.error().code != Errc::timed_out) return fail(revision.error());
    obs::log(obs::Level::warning, "no tracker answers; taking the revision that the tag named when it was fetched",
        {{"model", request_.ask.model}, {"tag", request_.ask.tag}, {"revision", to_string(held_->revision)}, {"cause", revision.error().message}});
    resolved(held_->revision);
}

void Fetch::resolved(const RevisionId& revision)
{
    request_.ask.revision = revision;
    request_.revision_known = true;
    report_.resolved(request_.ask.model, revision, request_.ask.tag);
    in_background<Survey>([site = request_.site, ask = request_.ask] { return survey(site, ask); }, &Fetch::surveyed);
}

void Fetch::surveyed(Result<Survey> survey)
{
    if (!survey) return fail(survey.error());
    if (survey.value().done) return held_already(survey.value().bytes);
    if (survey.value().data) return revision_got(std::move(*survey.value().data));
    finder_.revision(request_.ask.model, request_.ask.revision, patience(), [this](Result<RevisionData> data) {
        if (!ended_) revision_got(std::move(data));
    });
}

void Fetch::revision_got(Result<RevisionData> data)
{
    if (!data) return fail(data.error());
    data_ = std::make_shared<const RevisionData>(std::move(data).value());
    if (const auto wanted = wanted_files(data_->manifest, request_.ask.include, request_.ask.exclude); !wanted) return fail(wanted.error());
    claimer_ = std::make_unique<Claimer>(request_.site, boot_time, own_identity());
    claim();
}

void Fetch::claim()
{
    in_background<ClaimStep>(
        [claimer = claimer_.get(), site = request_.site, ask = request_.ask, data = data_] { return try_claim(*claimer, site, ask, *data); },
        &Fetch::claim_tried);
}

void Fetch::claim_tried(Result<ClaimStep> step)
{
    if (!step) return fail(step.error());
    if (step.value().attempt.claim) return claimed(std::move(step.value().attempt.claim));
    if (step.value().seen.done) return held_already(step.value().seen.bytes);
    if (!waited_ && !step.value().attempt.waiting_for.empty()) {
        waited_ = true;
        obs::log(obs::Level::info, "another fetch works on this destination; waiting for it",
            {{"destination", request_.site.directory.string()}, {"owner", step.value().attempt.waiting_for}});
    }
    wait_timer_ = loop_.after(claim_poll, [this] { claim(); });
}

void Fetch::claimed(std::unique_ptr<Claim> claim)
{
    attempt_.errand = {request_.site, request_.ask, data_, std::move(claim), request_.max_bytes, request_.page_cache, cancelled_};
    renew_timer_ = loop_.every(claim_renewal, [this] {
        renewing_->run([claim = attempt_.errand.claim] { (void)claim->renew(); }, [] {});  // a loss shows at the next write, which asks again
    });
    in_background<Workspace>([errand = attempt_.errand] { return prepare_workspace(errand); }, &Fetch::prepared);
}

void Fetch::prepared(Result<Workspace> workspace)
{
    if (!workspace) return workspace.error().code == Errc::changed ? begin_again(workspace.error()) : fail(workspace.error());
    attempt_.workspace = std::move(workspace).value();
    if (attempt_.workspace.done) return held_already(attempt_.workspace.facts.marker->marker.bytes);
    attempt_.verified_bytes = attempt_.workspace.reused_bytes;
    const auto files = static_cast<std::uint64_t>(std::count(attempt_.workspace.plan.wanted.begin(), attempt_.workspace.plan.wanted.end(), true));
    report_.started(request_.site.directory.string(), files, progress());
    if (attempt_.workspace.complete()) return on_complete();
    join();
}

void Fetch::join()
{
    swarm::Torrent torrent;
    torrent.revision = data_->revision;
    torrent.layout = data_->layout;
    torrent.layers = data_->layers;
    torrent.storage = attempt_.workspace.storage;
    torrent.have = attempt_.workspace.have;
    torrent.want = attempt_.workspace.plan.needed;
    if (auto joined = transfer_.join(request_.ask.model, std::move(torrent)); !joined) return fail(joined.error());
    attempt_.stall.emplace(Clock::now());
    if (store_) begin_store_reads();
    tick_timer_ = loop_.every(request_.tick, [this] { tick(); });
}

// Where no tracker has answered so far, the swarm has had its time already.
void Fetch::begin_store_reads()
{
    const TimePoint quiet_since = finder_.trackers_silent() ? started_ : Clock::now();
    attempt_.store_reads = std::make_unique<OriginReads>(
        OriginReads::Means{store_, *store_readers_, transfer_}, data_, OriginFallback{transfer_.peer(), quiet_since, request_.stall_timeout, random_seed()});
}

void Fetch::on_refused(PieceIndex piece)
{
    if (attempt_.store_reads) attempt_.store_reads->on_refused(piece);
}

void Fetch::on_piece(PieceIndex piece)
{
    if (attempt_.store_reads) attempt_.store_reads->on_piece(piece);
    if (attempt_.workspace.have.size() <= piece.value || attempt_.workspace.have[piece.value]) return;
    attempt_.workspace.have[piece.value] = true;
    attempt_.verified_bytes += wanted_bytes_of(attempt_.workspace.plan, *data_->layout, piece);
    if (!attempt_.trying_again) return;  // it was under way when the disk was full
    attempt_.trying_again = false;
    attempt_.disk_full.reset();
    transfer_.trouble({});
}

void Fetch::on_storage_failed(const Error& error)
{
    if (ended_ || attempt_.placing || ready_) return;  // all pieces are here: what fails now is a read for a neighbour
    if (error.code == Errc::changed) return begin_again(error);
    if (error.code != Errc::no_space || !attempt_.workspace.cache->written_out()) return fail(error);  // what was lost is found by the next run
    if (!attempt_.disk_full) obs::log(obs::Level::warning, "no space left; waiting for some", {{"cause", error.message}});
    attempt_.disk_full = error;
    attempt_.retried = Clock::now();
    attempt_.trying_again = false;
    transfer_.trouble(error.message);
}

void Fetch::tick()
{
    const TimePoint now = Clock::now();
    transfer_.refresh();
    if (attempt_.placing) return;
    report_.progress(progress(), now);
    attempt_.stall->saw(attempt_.verified_bytes, transfer_.stats().from_origin + transfer_.stats().from_peers, now);
    if (attempt_.disk_full && now - attempt_.retried >= disk_retry) {
        attempt_.retried = now;
        attempt_.trying_again = true;
        transfer_.resume();
    }
    if (attempt_.store_reads) attempt_.store_reads->tick(now, attempt_.disk_full ? OriginReads::Room::none : OriginReads::Room::there);
    look_for_wrong_bytes(now);
    if (!ended_) look_for_stall(now);
}

// A seeder, or we, have found that the origin lacks some of the revision's bytes, or holds others. Members that hold the rest may still finish it.
void Fetch::look_for_wrong_bytes(TimePoint now)
{
    const auto withdrawn = transfer_.withdrawn();
    const auto cause = !withdrawn && attempt_.store_reads ? attempt_.store_reads->given_up() : withdrawn;
    const bool hopeless = cause && (transfer_.stats().connections == 0 || transfer_.stats().pieces_nobody_has > 0);
    if (!hopeless) return attempt_.hopeless_since.reset();
    if (!attempt_.hopeless_since) attempt_.hopeless_since = now;
    if (now - *attempt_.hopeless_since < hope) return;
    fail({cause->code, (withdrawn ? "revision was withdrawn by its seeder: " : "the store cannot give the revision: ") + subject() + ": " + cause->message,
        "publish the model again, or restore the object that is named"});
}

void Fetch::look_for_stall(TimePoint now)
{
    if (attempt_.stall->idle(now) >= request_.stall_timeout) fail(stalled_error());
}

Error Fetch::stalled_error() const
{
    if (attempt_.disk_full)
        return {Errc::no_space, attempt_.disk_full->message + ", for " + duration_text(request_.stall_timeout),
            "free some space and run it again, it goes on from what is there"};
    return {Errc::timed_out, "no progress: " + subject() + ": for " + duration_text(request_.stall_timeout) + ", " + why_nothing_comes(),
        "check that a seeder serves it; what is there is kept"};
}

std::string Fetch::why_nothing_comes() const
{
    const std::string store = attempt_.store_reads ? attempt_.store_reads->trouble() : std::string{};
    return transfer_.why_nothing_comes() + (store.empty() ? "" : ", and the store cannot be read: " + store);
}

void Fetch::on_complete()
{
    if (ended_ || attempt_.placing) return;
    if (attempt_.store_reads) attempt_.store_reads->end("all of it is here");
    attempt_.placing = true;
    attempt_.verified_bytes = attempt_.workspace.plan.wanted_bytes;
    if (!attempt_.errand.claim->unsure()) return start_placing();
    in_background<bool>(
        [errand = attempt_.errand, workspace = attempt_.workspace]() -> Result<bool> {
            BOOST_OUTCOME_TRY(check_again(errand, workspace));
            return true;
        },
        &Fetch::checked_again);
}

void Fetch::checked_again(Result<bool> good)
{
    if (!good) return good.error().code == Errc::changed ? begin_again(good.error()) : fail(good.error());
    start_placing();
}

void Fetch::start_placing()
{
    transfer_.refresh();
    report_.verified(progress());
    Marker marker;
    marker.model = request_.ask.model;
    marker.revision = request_.ask.revision;
    marker.tag = request_.ask.tag;
    marker.include = request_.ask.include;
    marker.exclude = request_.ask.exclude;
    marker.time = utc_now();
    marker.by = std::string{"shoal-peer "} + SHOAL_VERSION + " on " + node_;
    marker.manifest = data_->manifest_bytes;
    marker.layers = data_->layer_bytes;
    in_background<Marker>(
        [errand = attempt_.errand, workspace = attempt_.workspace, marker = std::move(marker)] {
            const bool replace = workspace.decision.verdict == Verdict::replace;
            Placement placement{
                errand.site, marker, errand.data->manifest, workspace.plan, recorded_paths(workspace.facts), replace, *errand.claim, *workspace.cache, {}};
            return place(placement);
        },
        &Fetch::placed);
}

void Fetch::placed(Result<Marker> marker)
{
    if (!marker) return marker.error().code == Errc::changed ? begin_again(marker.error()) : fail(marker.error());
    renew_timer_.reset();
    attempt_.errand.claim.reset();
    tell_ready();
}

void Fetch::held_already(std::uint64_t bytes)
{
    attempt_.verified_bytes = bytes;
    attempt_.workspace.plan.wanted_bytes = bytes;
    attempt_.workspace.reused_bytes = bytes;
    tell_ready();
}

void Fetch::tell_ready()
{
    ready_ = true;
    ready_at_ = Clock::now();
    timeout_timer_.reset();
    report_.ready(request_.site.directory.string(), progress(), *ready_at_ - started_);
    transfer_.held();
    if (!transfer_.joined()) return end(success());
    tick_timer_ = loop_.every(linger_poll, [this] { linger(); });
    linger();
}

void Fetch::linger()
{
    transfer_.refresh();
    const LingerFacts facts{Clock::now() - *ready_at_, transfer_.stats().needing_us, transfer_.wanting()};
    if (may_leave(request_.linger, facts)) end(success());
}

// Another process has taken the claim over, as it does when this one stood still for long: it is the writer now, and we wait for it.
void Fetch::begin_again(const Error& cause)
{
    obs::log(obs::Level::warning, "beginning again", {{"cause", cause.message}});
    tick_timer_.reset();
    renew_timer_.reset();
    transfer_.drop();
    attempt_ = {};
    claimer_ = std::make_unique<Claimer>(request_.site, boot_time, own_identity());
    claim();
}

void Fetch::fail(Error error)
{
    if (error.code == Errc::not_allowed && error.hint.empty() && error.message.find(request_.site.shoal.string()) != std::string::npos)
        error.hint = "run as the user that owns it, or remove " + request_.site.base.string() + " if no fetch uses it";
    end(failure(std::move(error)));
}

void Fetch::end(Result<void> result)
{
    if (ended_) return;
    ended_ = true;
    *cancelled_ = true;
    for (net::Handle* timer : {&timeout_timer_, &tick_timer_, &renew_timer_, &wait_timer_}) timer->reset();
    loop_.post([this, result = std::move(result)] {  // not from inside a timer that was just let go
        if (!transfer_.joined()) return done_(result);
        transfer_.trackers().leave([this, result] { done_(result); });
    });
}

Duration Fetch::patience() const
{
    const Duration left = request_.timeout - (Clock::now() - started_);
    return std::max<Duration>(std::min(left, request_.stall_timeout) - std::chrono::milliseconds{100}, std::chrono::milliseconds{100});
}

FetchProgress Fetch::progress() const
{
    const swarm::TorrentStats& stats = transfer_.stats();
    return {attempt_.verified_bytes, attempt_.workspace.plan.wanted_bytes, stats.download_rate, stats.from_peers, stats.from_origin,
        attempt_.workspace.reused_bytes};
}

std::string Fetch::subject() const
{
    return request_.ask.model + " " + (request_.revision_known ? to_string(request_.ask.revision) : "tag " + request_.ask.tag);
}

}  // namespace shoal::peer
