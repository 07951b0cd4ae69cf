// One fetch from the first look to the marker: decides step by step what comes next; the disk's and the swarm's work is done elsewhere. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/net/loop.hpp"
#include "peer/claim.hpp"
#include "peer/origin_reads.hpp"
#include "peer/placement.hpp"
#include "peer/report.hpp"
#include "peer/revision_data.hpp"
#include "peer/revision_finder.hpp"
#include "peer/stall_watch.hpp"
#include "peer/store_access.hpp"
#include "peer/survey.hpp"
#include "peer/transfer.hpp"
#include "peer/workspace.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace shoal::peer {

struct FetchRequest {
    Site site;
    Ask ask;                     // its revision counts only if `revision_known`
    bool revision_known = true;  // else ask.tag is resolved
    Duration timeout = std::chrono::hours{1};
    Duration stall_timeout = std::chrono::seconds{60};
    std::optional<Duration> linger;  // none: auto
    std::uint64_t max_bytes = 0;     // 0: no limit
    PageCache page_cache = PageCache::automatic;
    Duration tick = std::chrono::milliseconds{500};
    std::string store;                                     // that may be read where the swarm gives nothing; empty: none
    Duration held_tag_patience = std::chrono::seconds{3};  // for trackers, where the marker can answer for a tag
};

class Fetch final : public TransferSink {
public:
    // `done` is called once, at the end, from the loop; destroy it only after that. What is staged stays for the next run unless all is in place.
    Fetch(net::Loop& loop, FetchRequest request, Presence presence, Report& report, std::function<void(Result<void>)> done);
    ~Fetch() override;

    void start();
    void interrupt();  // ends soon, with interrupted
    [[nodiscard]] const swarm::TorrentStats& stats() const { return transfer_.stats(); }
    [[nodiscard]] bool ready() const { return ready_; }

    void on_piece(PieceIndex piece) override;
    void on_refused(PieceIndex piece) override;
    void on_complete() override;
    void on_storage_failed(const Error& error) override;

private:
    // From a claim to the marker, or until another process takes the claim over: then all of it goes, and the next one begins.
    struct Attempt {
        Errand errand;
        Workspace workspace;
        std::uint64_t verified_bytes = 0;
        bool placing = false;
        std::optional<StallWatch> stall;
        std::unique_ptr<OriginReads> store_reads;  // null: not allowed
        std::optional<Error> disk_full;
        bool trying_again = false;  // resumed since, and not failed
        TimePoint retried{};
        std::optional<TimePoint> hopeless_since;
    };

    template <typename T>
    void in_background(std::function<Result<T>()> job, void (Fetch::*next)(Result<T>));

    void marker_seen(Result<DestinationFacts> facts);
    void tag_resolved(Result<RevisionId> revision);
    void resolved(const RevisionId& revision);
    void surveyed(Result<Survey> survey);
    void revision_got(Result<RevisionData> data);
    void claim();
    void claim_tried(Result<ClaimStep> step);
    void claimed(std::unique_ptr<Claim> claim);
    void prepared(Result<Workspace> workspace);
    void join();
    void tick();
    void begin_store_reads();
    void look_for_wrong_bytes(TimePoint now);
    void look_for_stall(TimePoint now);
    void checked_again(Result<bool> good);
    void start_placing();
    void placed(Result<Marker> marker);
    void held_already(std::uint64_t bytes);
    void tell_ready();
    void linger();
    void begin_again(const Error& cause);
    void fail(Error error);
    void end(Result<void> result);
    [[nodiscard]] Error stalled_error() const;
    [[nodiscard]] std::string why_nothing_comes() const;
    [[nodiscard]] Duration patience() const;  // for one answer of the trackers
    [[nodiscard]] FetchProgress progress() const;
    [[nodiscard]] std::string subject() const;  // "llama sha256:…"

    net::Loop& loop_;
    FetchRequest request_;
    Report& report_;
    std::string node_;
    std::function<void(Result<void>)> done_;
    std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
    TimePoint started_;
    bool ended_ = false, ready_ = false, waited_ = false;
    std::optional<Marker> held_;  // whose tag may stand in for trackers that do not answer
    std::shared_ptr<const RevisionData> data_;
    std::unique_ptr<Claimer> claimer_;
    Attempt attempt_;
    std::optional<TimePoint> ready_at_;
    Transfer transfer_;
    std::shared_ptr<StoreAccess> store_;           // null: only the swarm may be asked
    std::unique_ptr<net::Workers> store_readers_;  // its
    RevisionFinder finder_;
    net::Handle timeout_timer_, tick_timer_, renew_timer_, wait_timer_;
    std::unique_ptr<net::Workers> disk_, renewing_;  // last: their jobs end before anything above goes
};

}  // namespace shoal::peer
