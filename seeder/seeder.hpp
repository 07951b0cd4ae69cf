// The serving half of the program: hears from trackers what is wanted, loads it, and keeps it in the swarm while it is wanted and right. On the loop.
#pragma once

#include "common/control/client.hpp"
#include "common/control/neighbourhood.hpp"
#include "common/control/tracker_voice.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/metrics.hpp"
#include "common/origin/origin_storage.hpp"
#include "common/origin/served_revision.hpp"
#include "common/swarm/session.hpp"
#include "seeder/origin_slices.hpp"
#include "seeder/removal_watch.hpp"
#include "seeder/serve.hpp"
#include "seeder/store_watch.hpp"
#include "seeder/traffic.hpp"
#include "seeder/wishes.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace shoal::seeder {

class Seeder final : control::View {
public:
    // Fails with invalid (--advertise), or with what binding the listen addresses gave.
    static Result<std::unique_ptr<Seeder>> open(
        net::Loop& loop, const ServeOptions& options, std::unique_ptr<objectstore::ObjectStore> store, std::shared_ptr<obs::Metrics> metrics);
    ~Seeder() override;

    void start(std::function<void()> ready);                                            // beats begin; `ready` once the store has answered
    [[nodiscard]] std::string trouble() const { return watch_.trouble(Clock::now()); }  // why it is not ready; empty: it is
    [[nodiscard]] std::string endpoint() const;                                         // the first listen address, with the real port
    void leave(std::function<void()> done);                                             // tells the trackers, ends all waits for the store

private:
    Seeder(net::Loop& loop, const ServeOptions& options, std::unique_ptr<objectstore::ObjectStore> store, std::shared_ptr<obs::Metrics> metrics);
    Result<void> listen();

    wire::Beat beat() override;
    void on_reply(const wire::Reply& reply) override;
    [[nodiscard]] bool hold() const override { return true; }
    [[nodiscard]] wire::Holding holding(const RevisionId& revision, const Served& served) const;
    void introduce(const RevisionId& revision);
    void obey();       // the ceiling on reads of the store
    void look_busy();  // and tells the trackers when that changes

    void act();
    void load(const RevisionId& revision);
    void loaded(const RevisionId& revision, const Result<origin::ServedRevision>& result);
    void load_failed(const RevisionId& revision, const Error& error);
    Result<void> join(const origin::ServedRevision& revision);
    void drop(const RevisionId& revision);
    void on_events();
    void on_storage_failed(const swarm::StorageFailed& failed);
    void on_removed(const RevisionId& revision, const Error& cause);
    [[nodiscard]] std::vector<RevisionId> in_swarm() const;
    void count_traffic();
    void count_traffic(const origin::ServedRevision& served);

    net::Loop& loop_;
    ServeOptions options_;
    std::shared_ptr<obs::Metrics> metrics_;
    origin::OriginAccess access_;
    std::shared_ptr<objectstore::ObjectStore> store_;
    origin::OpenSource open_source_;
    wire::Beat self_;  // what all beats have in common
    Wishes wishes_;
    control::Neighbourhood neighbourhood_;
    std::map<RevisionId, origin::ServedRevision> served_;         // in the swarm
    std::map<RevisionId, std::optional<PieceIndex>> bad_pieces_;  // of those withdrawn for them: read before they are served again
    OriginSlices slices_;
    TimePoint busy_until_;
    bool busy_ = false;
    Traffic traffic_;
    RevisionId counted_;  // last
    control::TrackerVoice voice_;
    std::shared_ptr<std::atomic<bool>> notified_;  // on_events() is on its way
    std::unique_ptr<swarm::Session> session_;
    net::Workers workers_;
    StoreWatch watch_;
    RemovalWatch removals_;
    control::Client client_;
    net::Handle tick_;
};

}  // namespace shoal::seeder
