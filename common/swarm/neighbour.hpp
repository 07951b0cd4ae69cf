// One connection to a neighbour, as libtorrent's plugin sees it: admission, what it holds, what it sent, and whether it has fallen silent. Until a neighbour
// is admitted libtorrent does not learn what it has, its requests are not heeded, and nothing that it sends is taken. Network thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/swarm/messages.hpp"
#include "common/swarm/roster.hpp"

#include <libtorrent/extensions.hpp>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/peer_request.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::swarm {

class Neighbours;
class Showing;

class Neighbour final : public lt::peer_plugin {
public:
    Neighbour(Neighbours& all, lt::peer_connection_handle connection);

    [[nodiscard]] bool admitted() const { return admitted_; }
    [[nodiscard]] bool seeder() const { return shown_ && shown_->kind == Kind::seeder; }
    [[nodiscard]] bool shows() const { return seeder() && shown_->dispatch; }  // single pieces; what else it has is not asked for
    [[nodiscard]] bool heeds_shows() const { return shown_ && shown_->kind == Kind::peer && shown_->dispatch; }
    [[nodiscard]] bool complete() const { return held_ == has_.size(); }
    [[nodiscard]] PeerId id() const;  // a stock client's is made from its address
    [[nodiscard]] bool stock() const { return !shown_; }
    [[nodiscard]] Direction direction() const;
    [[nodiscard]] std::string endpoint() const;
    [[nodiscard]] bool is_to(const PeerId& peer) const { return shown_ && shown_->peer == peer; }
    [[nodiscard]] bool gone() const { return connection_.is_disconnecting(); }

    // The list of members has changed.
    void judge_again();
    void hang_up();
    void show(PieceIndex piece);
    void say_hungry();

    lt::string_view type() const override { return "shoal"; }
    void add_handshake(lt::entry& handshake) override;
    bool on_extension_handshake(const lt::bdecode_node& handshake) override;
    bool on_extended(int length, int message, lt::span<const char> body) override;
    void on_disconnect(const lt::error_code& error) override;
    bool on_have(lt::piece_index_t piece) override;
    bool on_dont_have(lt::piece_index_t piece) override;
    bool on_bitfield(const lt::bitfield& bits) override;
    bool on_have_all() override;
    bool on_have_none() override;
    bool on_allowed_fast(lt::piece_index_t piece) override;
    bool on_suggest(lt::piece_index_t piece) override;
    bool on_request(const lt::peer_request& request) override;
    bool on_piece(const lt::peer_request& piece, lt::span<const char> bytes) override;
    void sent_piece(const lt::peer_request& piece) override;
    void tick() override;

private:
    void admit();
    void join_showing();
    void note(std::uint32_t piece);  // that it has it
    void look_across();
    [[nodiscard]] bool let_in(std::uint32_t piece);
    void set_all(bool held);
    void set(std::uint32_t piece, bool held);
    void watch_silence();
    void send(const char* bytes, std::size_t size);
    void say(Word word, std::string_view content = {});
    void answer(Word word, std::string_view content);
    void say_again(std::string_view pieces);
    [[nodiscard]] Showing* showing() const;  // which has a say in what it asks for
    void heard();                            // what this neighbour has
    [[nodiscard]] bool hidden();             // of what this neighbour says it has: true keeps it from libtorrent

    Neighbours& all_;
    lt::peer_connection_handle connection_;
    std::optional<Shown> shown_;
    bool shook_ = false;  // the extension handshake has come
    bool admitted_ = false;
    bool counted_ = false;    // among the holders
    std::string across_;      // the other zone that it is in; empty: ours, or unknown
    bool filtered_ = false;   // so that libtorrent learns of what it has what the border lets in
    bool told_ = false;       // what it has
    bool joined_ = false;     // the seeder's showing
    bool kept_back_ = false;  // libtorrent was not told all that it has
    WordIds words_{};
    int ticks_ = 0;
    std::vector<bool> has_;
    std::vector<bool> want_;  // empty: all, as far as is known
    std::size_t held_ = 0;
    std::vector<bool> let_in_;  // of a filtered one: by piece, libtorrent knows that it has it, or will
    std::vector<lt::peer_request> unheeded_;
    std::int64_t received_ = 0;  // payload, at the last tick
    int silent_ticks_ = 0;
};

}  // namespace shoal::swarm
