#include "common/swarm/neighbours.hpp"

#include "common/swarm/endpoint.hpp"
#include "common/swarm/index.hpp"

#include <libtorrent/download_priority.hpp>
#include <libtorrent/peer_info.hpp>
#include <libtorrent/pex_flags.hpp>

#include <algorithm>
#include <utility>

namespace shoal::swarm {
namespace {

constexpr int seconds_of_hunger = 2;

}  // namespace

Neighbours::Neighbours(Self self, RevisionId revision, std::shared_ptr<const model::Layout> layout, Availability availability, Outbox& outbox,
    std::function<void(PieceIndex)> on_asked)
    : self_{self}, revision_{revision}, layout_{std::move(layout)}, availability_{std::move(availability)}, outbox_{outbox}, on_asked_{std::move(on_asked)}
{
    for (std::uint32_t piece = 0; piece < layout_->pieces(); ++piece) {
        if (!availability_.wanted({piece})) continue;
        const std::uint32_t length = layout_->place({piece}).length;
        bytes_wanted_ += length;
        if (availability_.have()[piece]) bytes_have_ += length;
    }
    if (self_.uplink) showing_.emplace(*layout_, self_.uplink, on_asked_);
}

std::shared_ptr<lt::peer_plugin> Neighbours::new_connection(const lt::peer_connection_handle& connection)
{
    auto neighbour = std::make_shared<Neighbour>(*this, connection);
    connections_.insert(neighbour.get());
    return neighbour;
}

void Neighbours::left(Neighbour& neighbour)
{
    connections_.erase(&neighbour);
    if (receiving_from_ == &neighbour) receiving_from_ = nullptr;
}

// Admission

Verdict Neighbours::judge(const Neighbour& neighbour, const std::optional<Shown>& shown) const
{
    const TimePoint now = Clock::now();
    const PeerId id = neighbour.id();
    const bool stock_clients = self_.strangers == Strangers::let_in;
    if (!shown) return !stock_clients ? Verdict::unknown : roster_.banned(id) ? Verdict::refused : Verdict::admitted;
    const Verdict verdict = roster_.judge(*shown, neighbour.direction(), now);
    if (verdict == Verdict::unknown && (stock_clients || (neighbour.admitted() && roster_.members().empty()))) return Verdict::admitted;
    return verdict;
}

bool Neighbours::spreads(const PeerId& peer) const
{
    const Member* const member = roster_.find(peer);
    return member == nullptr || member->spreads;
}

std::string Neighbours::zone_across(const PeerId& peer) const
{
    const Member* const member = roster_.find(peer);
    return member == nullptr || zone_.empty() || member->zone == zone_ ? std::string{} : member->zone;
}

// Two members that dial each other at once have two connections: both sides keep the one that the lower peer id dialled. Of two in the same direction the
// newer one stays: the older is what is left of a process that was killed.
bool Neighbours::welcome(Neighbour& neighbour)
{
    if (neighbour.stock()) return true;
    for (Neighbour* other : connections_) {
        if (other == &neighbour || !other->admitted() || other->id() != neighbour.id() || other->gone()) continue;
        const Direction lower_dialled = self_.shown.peer < neighbour.id() ? Direction::dialled : Direction::accepted;
        if (other->direction() != neighbour.direction() && neighbour.direction() != lower_dialled) return false;
        other->hang_up();
        return true;
    }
    return true;
}

void Neighbours::let_in(Strangers strangers)
{
    self_.strangers = strangers;
    judge_all();
}

void Neighbours::judge_all()
{
    const std::vector<Neighbour*> all{connections_.begin(), connections_.end()};
    for (Neighbour* neighbour : all)
        if (connections_.contains(neighbour)) neighbour->judge_again();
}

void Neighbours::set_members(const std::vector<Member>& members, const std::string& zone)
{
    roster_.assign(members);
    if (zone_.empty()) zone_ = zone;
    if (!border_ && self_.shown.kind == Kind::peer && !zone_.empty()) border_.emplace(self_.shown.peer, zone_, layout_->pieces());
    if (border_) border_->set_members(members);
    const bool first = !std::exchange(told_, true);
    if (first && showing_) showing_->wait_for(unconnected_holders());
    judge_all();
    if (dial()) connect_now();
    start();
}

std::set<PeerId> Neighbours::unconnected_holders() const
{
    std::set<PeerId> holders;
    for (const Member& member : roster_.members())
        if (!member.seeder && member.holds_some && member.peer != self_.shown.peer) holders.insert(member.peer);
    for (const Neighbour* neighbour : connections_)
        if (neighbour->admitted()) holders.erase(neighbour->id());
    return holders;
}

void Neighbours::on_files_checked()
{
    ready_ = true;
    start();
}

void Neighbours::start()
{
    if (started_ || !ready_ || !(told_ || seconds_ > 0 || self_.shown.kind == Kind::seeder)) return;
    started_ = true;
    handle_.resume();
}

bool Neighbours::on_pause()
{
    if (!connecting_now_) paused_ = true;
    return connecting_now_;
}

bool Neighbours::on_resume()
{
    paused_ = false;
    return false;
}

void Neighbours::resume()
{
    dial();
    if (started_) handle_.resume();
}

bool Neighbours::connected(const Member& member) const
{
    return std::any_of(connections_.begin(), connections_.end(), [&](const Neighbour* neighbour) {
        return neighbour->is_to(member.peer) || std::find(member.endpoints.begin(), member.endpoints.end(), neighbour->endpoint()) != member.endpoints.end();
    });
}

// Told again and again, libtorrent keeps trying a member that does not answer, every second or two.
bool Neighbours::dial()
{
    bool dialled = false;
    const TimePoint now = Clock::now();
    for (const Member& member : roster_.members()) {
        if (!member.dial || member.endpoints.empty() || member.peer == self_.shown.peer || connected(member)) continue;
        if (roster_.banned(member.peer) || roster_.left_alone(member.peer, now)) continue;
        const auto endpoint = parse_endpoint(member.endpoints[dials_ % member.endpoints.size()]);
        if (!endpoint) continue;
        handle_.connect_peer(*endpoint, lt::peer_info::tracker, lt::pex_lt_v2);
        dialled = true;
    }
    ++dials_;
    return dialled;
}

// libtorrent opens connections once a second, but at once to those that a torrent knows when it is resumed: so it is, from a pause that on_pause() calls off.
void Neighbours::connect_now()
{
    if (paused_) return;
    connecting_now_ = true;
    handle_.pause();
    connecting_now_ = false;
    handle_.resume();
}

void Neighbours::second()
{
    ++seconds_;
    start();
    if (started_) dial();
    down_.second(from_origin_ + from_peers_);
    if (showing_) showing_->second();
    look_for_hunger();
}

// A seeder shows single pieces and leaves the rest to the swarm. Whom the swarm gives nothing says so.
void Neighbours::look_for_hunger()
{
    const std::uint64_t received = from_origin_ + from_peers_;
    const bool fed = std::exchange(received_before_, received) != received || availability_.complete() || paused_;
    hungry_seconds_ = fed ? 0 : hungry_seconds_ + 1;
    if (hungry_seconds_ < seconds_of_hunger) return;
    for (Neighbour* neighbour : connections_)
        if (neighbour->admitted() && neighbour->shows()) neighbour->say_hungry();
}

bool Neighbours::others_can_send(const Neighbour& than) const
{
    return std::any_of(connections_.begin(), connections_.end(),
        [&](const Neighbour* other) { return other != &than && other->admitted() && (other->seeder() || other->complete()); });
}

void Neighbours::silent(const Neighbour& neighbour)
{
    roster_.was_silent(neighbour.id(), Clock::now());
}

// Blocks and pieces

std::uint32_t Neighbours::payload(const lt::peer_request& block) const
{
    const std::uint32_t length = layout_->place({number(block.piece)}).length;
    const auto start = static_cast<std::uint32_t>(block.start);
    return start >= length ? 0 : std::min(static_cast<std::uint32_t>(block.length), length - start);
}

void Neighbours::asked(PieceIndex piece)
{
    if (on_asked_ && piece.value < layout_->pieces()) on_asked_(piece);
}

void Neighbours::receiving(const Neighbour& from, const lt::peer_request& block)
{
    receiving_from_ = &from;
    const std::uint32_t bytes = payload(block);
    (from.seeder() ? from_origin_ : from_peers_) += bytes;
    if (!from.stock()) received_[from.id()] += bytes;
}

void Neighbours::sent(const Neighbour& to, const lt::peer_request& block)
{
    const std::uint32_t bytes = payload(block);
    sent_ += bytes;
    if (showing_) showing_->sent(to, bytes);
}

void Neighbours::block_taken(PieceIndex piece, std::uint32_t block)
{
    if (receiving_from_ != nullptr) blame_.sent(piece, block, receiving_from_->id());
}

void Neighbours::piece_judged(PieceIndex piece, bool right, std::span<const Digest> leaves)
{
    if (!right) outbox_.push(PieceFailed{revision_, piece});
    if (handed_in_.erase(piece.value) > 0 && !right)  // it was verified when it was read: memory or processor garble bytes, and libtorrent would wait for ever
        outbox_.push(StorageFailed{revision_,
            {Errc::integrity,
                "writing piece " + std::to_string(piece.value) + " of " + to_string(revision_) + ": its bytes have changed since they were read and verified",
                {}}});
    for (const PeerId& peer : blame_.judged(piece, right, leaves)) ban(peer);
}

// Neighbours that are asked for nothing are asked again within 5 s only, unless their interest changes, or what we want: so that of a piece that is here
// is changed, and back.
void Neighbours::ask_again()
{
    const auto held = std::find(availability_.have().begin(), availability_.have().end(), true);
    if (held == availability_.have().end() || availability_.complete()) return;
    const auto piece = static_cast<std::uint32_t>(held - availability_.have().begin());
    const lt::download_priority_t before = availability_.wanted({piece}) ? lt::default_priority : lt::dont_download;
    handle_.piece_priority(piece_index(piece), before == lt::dont_download ? lt::default_priority : lt::dont_download);
    handle_.piece_priority(piece_index(piece), before);
}

void Neighbours::ban(const PeerId& peer)
{
    roster_.ban(peer);
    const std::vector<Neighbour*> all{connections_.begin(), connections_.end()};
    for (Neighbour* neighbour : all) {
        if (!connections_.contains(neighbour) || neighbour->id() != peer) continue;
        outbox_.push(PeerBanned{revision_, neighbour->endpoint()});
        neighbour->hang_up();
    }
}

void Neighbours::on_piece_pass(lt::piece_index_t passed)
{
    const PieceIndex piece{number(passed)};
    const bool was_complete = availability_.complete();
    if (availability_.have()[piece.value]) return;
    availability_.gained(piece);
    if (availability_.wanted(piece)) bytes_have_ += layout_->place(piece).length;
    outbox_.push(PieceVerified{revision_, piece});
    if (!was_complete && availability_.complete()) outbox_.push(Complete{revision_});
}

// From the store

void Neighbours::given(PieceIndex piece)
{
    const std::uint32_t bytes = layout_->place(piece).length;
    given_ += bytes;
    from_origin_ += bytes;
}

void Neighbours::hand_in(PieceIndex piece, std::vector<char> bytes)
{
    const auto info = handle_.torrent_file();
    bytes.resize(static_cast<std::size_t>(info->piece_size(piece_index(piece.value))));
    receiving_from_ = nullptr;
    handed_in_.insert(piece.value);
    handle_.add_piece(piece_index(piece.value), bytes.data());  // on this thread: done on return
}

Lacking Neighbours::lacking() const
{
    Lacking lacking;
    for (std::uint32_t piece = 0; piece < layout_->pieces(); ++piece)
        if (availability_.missing({piece})) (availability_.held_by_others({piece}) ? lacking.held : lacking.nobodys).push_back({piece});
    for (const Neighbour* neighbour : connections_)
        if (neighbour->admitted() && !neighbour->seeder() && !neighbour->gone()) lacking.peers.push_back(neighbour->id());
    std::sort(lacking.peers.begin(), lacking.peers.end());
    return lacking;
}

// Numbers

void Neighbours::Rate::second(std::uint64_t total)
{
    per_second = (per_second + (total - before)) / 2;
    before = total;
}

TorrentStats Neighbours::stats() const
{
    TorrentStats stats;
    stats.bytes_have = bytes_have_;
    stats.bytes_wanted = bytes_wanted_;
    stats.from_origin = from_origin_;
    stats.from_peers = from_peers_;
    stats.given = given_;
    stats.sent = sent_;
    stats.download_rate = down_.per_second;
    stats.pieces_nobody_has = availability_.nobodys();
    for (const Neighbour* neighbour : connections_) {
        if (!neighbour->admitted()) continue;
        ++stats.connections;
        if (neighbour->seeder()) stats.seeder_connected = true;
        // A piece that only we hold is one that each of them lacks.
        if (!neighbour->complete() && availability_.only_ours() > 0) ++stats.needing_us;
    }
    stats.received.assign(received_.begin(), received_.end());
    return stats;
}

}  // namespace shoal::swarm
