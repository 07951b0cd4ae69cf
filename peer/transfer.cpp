#include "peer/transfer.hpp"

#include "common/core/random.hpp"
#include "common/net/address.hpp"
#include "common/obs/log.hpp"

#include <algorithm>

namespace shoal::peer {
namespace {

swarm::Member member_from(const wire::Neighbour& neighbour)
{
    return {neighbour.peer, neighbour.key, neighbour.role == wire::Role::seeder, neighbour.dial, neighbour.endpoints, neighbour.dialable, neighbour.holds_some,
        neighbour.zone};
}

}  // namespace

Transfer::Transfer(net::Loop& loop, Presence presence, TransferSink& sink)
    : loop_{loop},
      presence_{std::move(presence)},
      sink_{sink},
      peer_{random_id<PeerId>()},
      key_{random_id<MemberKey>()},
      instance_{random_seed()},
      client_{loop, presence_.trackers, *this}
{}

Transfer::~Transfer()
{
    *alive_ = false;
}

Result<void> Transfer::join(const std::string& model, swarm::Torrent torrent)
{
    model_ = model;
    revision_ = torrent.revision;
    state_ = wire::HoldState::wanted;
    swarm::SessionOptions options;
    options.peer = peer_;
    options.key = key_;
    options.listen = presence_.listen;
    options.any_port_if_taken = true;
    options.download_limit = presence_.download_limit;
    options.upload_limit = presence_.upload_limit;
    options.notify = [this, &loop = loop_, alive = alive_] {
        loop.post([this, alive] {
            if (*alive) poll();
        });
    };
    auto session = swarm::Session::open(std::move(options));
    if (!session) return failure(session.error());
    session_ = std::move(session).value();
    if (auto added = session_->add(std::move(torrent)); !added) return added;
    if (beating_)
        client_.beat_now();
    else
        client_.start();
    beating_ = true;
    return success();
}

void Transfer::resume()
{
    if (session_) session_->resume(revision_);
}

void Transfer::trouble(const std::string& text)
{
    trouble_ = text;
}

void Transfer::held()
{
    state_ = wire::HoldState::held;
    if (beating_) client_.beat_now();
}

void Transfer::drop()
{
    session_.reset();
}

void Transfer::give(PieceIndex piece, std::vector<char> bytes)
{
    if (session_) session_->give(revision_, piece, std::move(bytes));
}

std::optional<swarm::Lacking> Transfer::lacking()
{
    return session_ ? session_->lacking(revision_) : std::nullopt;
}

void Transfer::refresh()
{
    if (session_) stats_ = session_->stats(revision_).value_or(stats_);
    if (state_ == wire::HoldState::wanted && stats_.from_origin + stats_.from_peers > 0) {
        state_ = wire::HoldState::fetching;
        client_.beat_now();
    }
}

std::optional<std::uint32_t> Transfer::wanting() const
{
    return neighbourhood_.wanting(revision_);
}

std::optional<Error> Transfer::withdrawn() const
{
    return neighbourhood_.withdrawn(revision_);
}

std::string Transfer::why_nothing_comes() const
{
    bool answered = false;
    std::string silent;
    for (const control::TrackerState& tracker : client_.trackers()) {
        answered = answered || tracker.answered;
        silent += (silent.empty() ? "" : ", ") + tracker.address + (tracker.cause.empty() ? "" : " (" + tracker.cause + ")");
    }
    const std::string connected = told_of() + (members_.empty() ? "" : ": ") + std::to_string(stats_.connections) +
                                  (stats_.connections == 1 ? " member is connected and " : " members are connected and ");
    if (stats_.connections > 0 && stats_.pieces_nobody_has > 0)
        return connected + (stats_.connections == 1 ? "lacks " : "all lack ") + std::to_string(stats_.pieces_nobody_has) + " of the missing pieces";
    if (stats_.connections > 0) return connected + (stats_.connections == 1 ? "sends nothing" : "send nothing");
    if (!members_.empty()) return told_of() + (members_.size() == 1 ? ", which does not answer" : ", none of which answers");
    if (!answered) return "no tracker answers: " + silent;
    return "the tracker knows no member that has it, and no seeder";
}

// "the tracker names 10.0.0.1:6881 and 2 more"
std::string Transfer::told_of() const
{
    if (members_.empty()) return {};
    const auto known = std::find_if(members_.begin(), members_.end(), [](const swarm::Member& member) { return !member.endpoints.empty(); });
    if (known == members_.end()) return "the tracker names " + std::to_string(members_.size()) + " members that dial";
    return "the tracker names " + known->endpoints.front() + (members_.size() > 1 ? " and " + std::to_string(members_.size() - 1) + " more" : "");
}

wire::Beat Transfer::beat()
{
    refresh();
    wire::Beat beat;
    beat.peer = peer_;
    beat.instance = instance_;
    beat.key = key_;
    beat.software = std::string{"shoal-peer "} + SHOAL_VERSION;
    beat.node = presence_.node;
    beat.zone = presence_.zone;
    beat.rack = presence_.rack;
    beat.labels = presence_.labels;
    beat.workload = presence_.workload;
    if (!session_) return beat;
    beat.port = session_->port();
    if (const auto advertised = net::parse_advertised(presence_.advertise)) {
        beat.addresses = {advertised.value().address};
        if (advertised.value().port != 0) beat.port = advertised.value().port;
    }
    wire::Holding holding;
    holding.revision = revision_;
    holding.model = model_;
    holding.state = state_;
    holding.bytes_total = stats_.bytes_wanted;
    holding.bytes_have = stats_.bytes_have;
    holding.from_origin = stats_.from_origin;
    holding.from_peers = stats_.from_peers;
    holding.sent = stats_.sent;
    holding.rate = stats_.download_rate;
    holding.trouble = trouble_;
    beat.holdings.push_back(std::move(holding));
    for (const auto& [from, bytes] : stats_.received) beat.received.push_back({from, bytes});
    return beat;
}

void Transfer::on_reply(const wire::Reply& reply)
{
    voice_.heard(reply);
    neighbourhood_.heard(reply.tracker, reply);
    if (!session_) return;
    session_->let_in(neighbourhood_.stock_clients() ? swarm::Strangers::let_in : swarm::Strangers::kept_out);
    members_.clear();
    for (const wire::Neighbour& neighbour : neighbourhood_.neighbours(revision_)) members_.push_back(member_from(neighbour));
    session_->set_members(revision_, members_, neighbourhood_.zone());
}

void Transfer::poll()
{
    if (!session_) return;
    for (const swarm::Event& event : session_->poll()) on_event(event);
}

void Transfer::on_event(const swarm::Event& event)
{
    if (const auto* verified = std::get_if<swarm::PieceVerified>(&event))
        sink_.on_piece(verified->piece);
    else if (const auto* refused = std::get_if<swarm::PieceRefused>(&event))
        sink_.on_refused(refused->piece);
    else if (std::holds_alternative<swarm::Complete>(event))
        sink_.on_complete();
    else if (const auto* failed = std::get_if<swarm::StorageFailed>(&event))
        sink_.on_storage_failed(failed->error);
    else if (const auto* wrong = std::get_if<swarm::PieceFailed>(&event))
        obs::log(obs::Level::warning, "a piece came with wrong bytes", {{"piece", std::to_string(wrong->piece.value)}});
    else if (const auto* banned = std::get_if<swarm::PeerBanned>(&event))
        obs::log(obs::Level::warning, "banned a peer that sent wrong bytes", {{"peer", banned->endpoint}});
    else if (const auto* deaf = std::get_if<swarm::ListenFailed>(&event))
        obs::log(obs::Level::warning, "cannot listen", {{"address", deaf->endpoint}, {"cause", deaf->cause}});
}

}  // namespace shoal::peer
