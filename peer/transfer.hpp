// A fetch's place in the swarm: the session, the beats that say what it wants and has, and the neighbours that trackers name. All on the loop.
#pragma once

#include "common/control/client.hpp"
#include "common/control/neighbourhood.hpp"
#include "common/control/tracker_voice.hpp"
#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/net/loop.hpp"
#include "common/swarm/session.hpp"
#include "common/wire/beat.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::peer {

// Who this process is and where it may be found.
struct Presence {
    std::vector<std::string> trackers, listen;
    std::string advertise;  // "addr" or "addr:port"; empty: as the tracker sees us
    std::string node, zone, rack;
    std::map<std::string, std::string> labels;
    wire::Workload workload;
    std::uint64_t download_limit = 0, upload_limit = 0;  // bytes/s, 0: none
};

// What the owner hears; called on the loop.
class TransferSink {
public:
    TransferSink() = default;
    TransferSink(const TransferSink&) = delete;
    TransferSink& operator=(const TransferSink&) = delete;
    virtual ~TransferSink() = default;
    virtual void on_piece(PieceIndex piece) = 0;
    virtual void on_refused(PieceIndex piece) = 0;  // what was given could not be taken now
    virtual void on_complete() = 0;
    virtual void on_storage_failed(const Error& error) = 0;
};

class Transfer final : public control::View {
public:
    Transfer(net::Loop& loop, Presence presence, TransferSink& sink);
    ~Transfer() override;

    [[nodiscard]] control::Client& trackers() { return client_; }

    // Opens the session, adds the torrent, begins to beat. Fails as Session::open and add do.
    Result<void> join(const std::string& model, swarm::Torrent torrent);
    void resume();                          // after a storage failure
    void trouble(const std::string& text);  // why it waits; travels in the beats
    void held();                            // all of it is in place
    void drop();                            // out of the swarm, at most 2 s
    [[nodiscard]] bool joined() const { return session_ != nullptr; }

    void give(PieceIndex piece, std::vector<char> bytes);  // as Session::give
    [[nodiscard]] std::optional<swarm::Lacking> lacking();
    [[nodiscard]] const PeerId& peer() const { return peer_; }

    void refresh();  // asks the session again
    [[nodiscard]] const swarm::TorrentStats& stats() const { return stats_; }
    [[nodiscard]] std::optional<std::uint32_t> wanting() const;
    [[nodiscard]] std::optional<Error> withdrawn() const;
    // Why nothing comes: no tracker answers, nobody has it, or nobody sends.
    [[nodiscard]] std::string why_nothing_comes() const;

    wire::Beat beat() override;
    void on_reply(const wire::Reply& reply) override;
    [[nodiscard]] bool hold() const override { return joined(); }

private:
    void poll();
    void on_event(const swarm::Event& event);
    [[nodiscard]] std::string told_of() const;
    net::Loop& loop_;
    Presence presence_;
    TransferSink& sink_;
    PeerId peer_;
    MemberKey key_;
    std::uint64_t instance_;
    control::Neighbourhood neighbourhood_;
    control::TrackerVoice voice_;
    std::string model_;
    RevisionId revision_;
    wire::HoldState state_ = wire::HoldState::wanted;
    std::string trouble_;
    swarm::TorrentStats stats_;
    std::vector<swarm::Member> members_;  // that trackers name
    bool beating_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // posted notifications outlive us
    control::Client client_;
    std::unique_ptr<swarm::Session> session_;
};

}  // namespace shoal::peer
