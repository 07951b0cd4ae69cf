#include "peer/revision_finder.hpp"

#include "common/obs/log.hpp"
#include "peer/revision_source.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace shoal::peer {
namespace {

constexpr Duration between_tries = std::chrono::seconds{1};
constexpr Duration turn_of_silent = std::chrono::seconds{1};  // of trackers that did not answer the last time

}  // namespace

template <typename T>
struct RevisionFinder::Search {
    using Done = std::function<void(Result<T>)>;
    std::function<void(Duration, Done)> ask_trackers;
    std::function<Result<T>()> read_store;
    TimePoint end;
    Done done;
};

RevisionFinder::RevisionFinder(net::Loop& loop, control::Client& trackers, std::optional<Instead> instead)
    : loop_{loop}, trackers_{trackers}, instead_{std::move(instead)}
{}

RevisionFinder::~RevisionFinder()
{
    *alive_ = false;
}

void RevisionFinder::tag(const std::string& model, const std::string& tag, Duration within, std::function<void(Result<RevisionId>)> done)
{
    ask_trackers(std::make_shared<Search<RevisionId>>(
        Search<RevisionId>{[this, model, tag](Duration most, Search<RevisionId>::Done then) { resolve_tag(trackers_, model, tag, most, std::move(then)); },
            [store = instead_ ? instead_->store : nullptr, model, tag] { return store->tag(model, tag); }, Clock::now() + within, std::move(done)}));
}

void RevisionFinder::revision(const std::string& model, const RevisionId& revision, Duration within, std::function<void(Result<RevisionData>)> done)
{
    ask_trackers(std::make_shared<Search<RevisionData>>(Search<RevisionData>{
        [this, model, revision](Duration most, Search<RevisionData>::Done then) { get_revision(trackers_, model, revision, most, std::move(then)); },
        [store = instead_ ? instead_->store : nullptr, model, revision] { return store->revision(model, revision); }, Clock::now() + within, std::move(done)}));
}

template <typename T>
void RevisionFinder::ask_trackers(const std::shared_ptr<Search<T>>& search)
{
    Duration most = search->end - Clock::now();
    if (instead_) most = std::min(most, silent_ ? turn_of_silent : instead_->turn);
    search->ask_trackers(most, [this, alive = alive_, search](Result<T> found) {
        if (!*alive) return;
        const bool silent = !found && found.error().code == Errc::timed_out;
        if (instead_ && silent) return read_store(search, found.error());
        silent_ = silent;
        search->done(std::move(found));
    });
}

template <typename T>
void RevisionFinder::read_store(const std::shared_ptr<Search<T>>& search, const Error& of_trackers)
{
    if (!std::exchange(silent_, true))
        obs::log(obs::Level::info, "no tracker answers; asking the store itself", {{"store", instead_->store->url()}, {"cause", of_trackers.message}});
    auto slot = std::make_shared<std::optional<Result<T>>>();
    const auto read = [this, alive = alive_, search, slot, of_trackers] {
        if (!*alive) return;
        const Result<T>& found = **slot;
        if (found || !may_pass(found.error().code)) return search->done(found);
        if (Clock::now() + between_tries < search->end) {
            pause_ = loop_.after(between_tries, [this, search] { ask_trackers(search); });
            return;
        }
        search->done(failure(Errc::timed_out, of_trackers.message + "; and the store does not answer: " + found.error().message, of_trackers.hint));
    };
    if (!instead_->readers.run([slot, search] { slot->emplace(search->read_store()); }, read)) search->done(failure(of_trackers));
}

}  // namespace shoal::peer
