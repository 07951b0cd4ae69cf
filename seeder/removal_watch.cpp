#include "seeder/removal_watch.hpp"

#include "common/objectstore/keys.hpp"

#include <utility>

namespace shoal::seeder {

RemovalWatch::RemovalWatch(net::Loop& loop, net::Workers& workers, std::shared_ptr<objectstore::ObjectStore> store, Duration between_looks)
    : loop_{loop}, workers_{workers}, store_{std::move(store)}, between_looks_{between_looks}
{}

void RemovalWatch::start(Served served, Removed removed)
{
    served_ = std::move(served);
    removed_ = std::move(removed);
    ask_later();
}

void RemovalWatch::ask_later()
{
    again_ = loop_.after(between_looks_, [this] { ask(); });
}

void RemovalWatch::ask()
{
    const auto absences = std::make_shared<Absences>();
    const bool queued =
        workers_.run([store = store_, revisions = served_(), absences] { *absences = look(*store, revisions); }, [this, absences] { heard(*absences); });
    if (!queued) ask_later();
}

RemovalWatch::Absences RemovalWatch::look(objectstore::ObjectStore& store, const std::vector<RevisionId>& revisions)
{
    Absences absences;
    for (const RevisionId& revision : revisions) {
        const auto found = store.head(objectstore::manifest_key(revision));
        if (found) continue;
        if (found.error().code != Errc::not_found) break;  // it would answer the others no better
        absences.push_back({revision, found.error()});
    }
    return absences;
}

void RemovalWatch::heard(const Absences& absences)
{
    for (const auto& [revision, cause] : absences) removed_(revision, cause);
    ask_later();
}

}  // namespace shoal::seeder
