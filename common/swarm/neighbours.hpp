// A torrent's neighbours: who is admitted, dialled and banned, what they hold and what was exchanged with them. libtorrent's torrent plugin. Network thread.
#pragma once

#include "common/core/clock.hpp"
#include "common/model/layout.hpp"
#include "common/swarm/availability.hpp"
#include "common/swarm/blame.hpp"
#include "common/swarm/border.hpp"
#include "common/swarm/events.hpp"
#include "common/swarm/neighbour.hpp"
#include "common/swarm/outbox.hpp"
#include "common/swarm/roster.hpp"
#include "common/swarm/showing.hpp"

#include <libtorrent/extensions.hpp>
#include <libtorrent/peer_request.hpp>
#include <libtorrent/torrent_handle.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal::swarm {

// What the neighbours of all torrents of a session have in common.
struct Self {
    Shown shown;
    Strangers strangers = Strangers::kept_out;
    std::shared_ptr<SharedUplink> uplink;  // a seeder's
};

class Neighbours final : public lt::torrent_plugin, public std::enable_shared_from_this<Neighbours> {
public:
    Neighbours(Self self, RevisionId revision, std::shared_ptr<const model::Layout> layout, Availability availability, Outbox& outbox,
        std::function<void(PieceIndex)> on_asked);

    // From the session
    void set_handle(lt::torrent_handle handle) { handle_ = std::move(handle); }
    [[nodiscard]] const lt::torrent_handle& handle() const { return handle_; }
    void let_in(Strangers strangers);
    void set_members(const std::vector<Member>& members, const std::string& zone = {});
    void block_taken(PieceIndex piece, std::uint32_t block);
    void piece_judged(PieceIndex piece, bool right, std::span<const Digest> leaves);
    void ask_again();  // a piece that came wrong may be asked for again
    void second();     // once a second
    void resume();     // after it was paused
    [[nodiscard]] TorrentStats stats() const;
    [[nodiscard]] Lacking lacking() const;
    void given(PieceIndex piece);  // by the owner, who read it from the store
    // Has libtorrent take the piece as if it had come from a neighbour; `bytes` are as many as it has, without the padding that libtorrent counts in.
    void hand_in(PieceIndex piece, std::vector<char> bytes);
    void refused(PieceIndex piece) { outbox_.push(PieceRefused{revision_, piece}); }
    [[nodiscard]] bool takes(PieceIndex piece) const { return started_ && !paused_ && availability_.missing(piece) && !handed_in_.contains(piece.value); }

    // From libtorrent
    std::shared_ptr<lt::peer_plugin> new_connection(const lt::peer_connection_handle& connection) override;
    void on_piece_pass(lt::piece_index_t passed) override;
    void on_files_checked() override;
    bool on_pause() override;
    bool on_resume() override;

    // From a neighbour
    [[nodiscard]] const Shown& own() const { return self_.shown; }
    Availability& availability() { return availability_; }
    [[nodiscard]] Showing* showing() { return showing_ ? &*showing_ : nullptr; }  // a seeder's
    [[nodiscard]] Border* border() { return border_ ? &*border_ : nullptr; }      // a peer's
    [[nodiscard]] bool spreads(const PeerId& peer) const;
    [[nodiscard]] std::string zone_across(const PeerId& peer) const;  // where it is, if that is another than ours and both are known; else empty
    [[nodiscard]] Verdict judge(const Neighbour& neighbour, const std::optional<Shown>& shown) const;
    bool welcome(Neighbour& neighbour);  // false: it is connected already, and that connection stays
    void left(Neighbour& neighbour);
    void asked(PieceIndex piece);
    void receiving(const Neighbour& from, const lt::peer_request& block);
    void sent(const Neighbour& to, const lt::peer_request& block);
    [[nodiscard]] bool others_can_send(const Neighbour& than) const;
    void silent(const Neighbour& neighbour);

private:
    struct Rate {
        std::uint64_t before = 0;
        std::uint64_t per_second = 0;
        void second(std::uint64_t total);
    };
    [[nodiscard]] std::uint32_t payload(const lt::peer_request& block) const;
    void judge_all();
    void start();
    bool dial();  // whether there was anybody to dial
    void connect_now();
    [[nodiscard]] bool connected(const Member& member) const;
    [[nodiscard]] std::set<PeerId> unconnected_holders() const;
    void ban(const PeerId& peer);
    void look_for_hunger();

    Self self_;
    RevisionId revision_;
    std::shared_ptr<const model::Layout> layout_;
    Availability availability_;
    Outbox& outbox_;
    std::function<void(PieceIndex)> on_asked_;
    lt::torrent_handle handle_;
    Roster roster_;
    Blame blame_;
    std::optional<Showing> showing_;
    std::optional<Border> border_;
    std::set<Neighbour*> connections_;
    bool ready_ = false;    // libtorrent is through with what it checks
    bool started_ = false;  // resumed for the first time
    bool paused_ = true;
    bool connecting_now_ = false;
    bool told_ = false;  // who the members are
    std::string zone_;   // empty: unknown
    int seconds_ = 0;
    std::uint64_t dials_ = 0;
    const Neighbour* receiving_from_ = nullptr;  // within one call of libtorrent's
    std::uint64_t bytes_have_ = 0;
    std::uint64_t bytes_wanted_ = 0;
    std::uint64_t from_origin_ = 0;
    std::uint64_t from_peers_ = 0;
    std::uint64_t given_ = 0;
    std::set<std::uint32_t> handed_in_;  // and not verified yet
    std::uint64_t sent_ = 0;
    std::uint64_t received_before_ = 0;
    int hungry_seconds_ = 0;
    Rate down_;
    std::unordered_map<PeerId, std::uint64_t> received_;
};

}  // namespace shoal::swarm
