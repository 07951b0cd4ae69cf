#include "common/swarm/neighbour.hpp"

#include "common/crypto/sha256.hpp"
#include "common/swarm/border.hpp"
#include "common/swarm/endpoint.hpp"
#include "common/swarm/index.hpp"
#include "common/swarm/messages.hpp"
#include "common/swarm/neighbours.hpp"
#include "common/swarm/showing.hpp"

#include <libtorrent/bdecode.hpp>
#include <libtorrent/bitfield.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/peer_info.hpp>

#include <algorithm>
#include <cstring>

namespace shoal::swarm {
namespace {

constexpr int ticks_for_handshake = 2;
constexpr int ticks_for_admission = 10;  // a tracker tells the other side within a beat or two
constexpr std::size_t most_unheeded = 4096;
// A source that owes blocks and sends nothing: replaced when another could send, and dialled anew when it is the only one.
constexpr int ticks_of_silence = 6;
constexpr int ticks_of_silence_alone = 20;

}  // namespace

Neighbour::Neighbour(Neighbours& all, lt::peer_connection_handle connection)
    : all_{all}, connection_{std::move(connection)}, has_(all.availability().have().size())
{}

PeerId Neighbour::id() const
{
    if (shown_) return shown_->peer;
    PeerId id;
    const Digest digest = crypto::sha256(as_bytes(endpoint()));
    std::memcpy(id.bytes.data(), digest.bytes.data(), PeerId::size);
    return id;
}

Direction Neighbour::direction() const
{
    return connection_.is_outgoing() ? Direction::dialled : Direction::accepted;
}

std::string Neighbour::endpoint() const
{
    return text_of(connection_.remote());
}

void Neighbour::hang_up()
{
    // Counted as a failure, so that libtorrent, which dials all it has ever heard of, lets an endpoint be that is no member's any more.
    const lt::error_code cause = boost::system::errc::make_error_code(boost::system::errc::permission_denied);
    connection_.disconnect(cause, lt::operation_t::bittorrent, lt::disconnect_severity_t{std::uint8_t{1}});
}

void Neighbour::send(const char* bytes, std::size_t size)
{
    connection_.send_buffer(bytes, static_cast<int>(size));
}

// Admission

void Neighbour::add_handshake(lt::entry& handshake)
{
    // Who dials in gets no key: see Roster::judge().
    Shown own = all_.own();
    if (direction() == Direction::accepted) own.key.reset();
    write_shown(handshake, own);
}

bool Neighbour::on_extension_handshake(const lt::bdecode_node& handshake)
{
    if (shook_) return true;
    shook_ = true;
    shown_ = read_shown(handshake);
    words_ = read_words(handshake);
    judge_again();
    return true;
}

void Neighbour::judge_again()
{
    if (!shook_ || gone()) return;
    switch (all_.judge(*this, shown_)) {
    case Verdict::admitted:
        if (!admitted_) admit();
        break;
    case Verdict::unknown:
        if (admitted_) hang_up();
        break;
    case Verdict::refused: hang_up(); break;
    }
}

void Neighbour::admit()
{
    if (!all_.welcome(*this)) return hang_up();
    admitted_ = true;
    across_ = all_.zone_across(id());
    filtered_ = !across_.empty() && all_.border() != nullptr && !seeder() && words_[static_cast<std::size_t>(Word::again)] != 0;
    if (filtered_) {
        let_in_.assign(has_.size(), false);
        all_.border()->met(across_);
    }
    for (std::uint32_t piece = 0; piece < has_.size(); ++piece)
        if (has_[piece]) note(piece);
    counted_ = true;
    for (const lt::peer_request& request : unheeded_) {
        const auto reject = reject_message(request);
        send(reject.data(), reject.size());
    }
    unheeded_.clear();
    if (filtered_)
        look_across();
    else if (kept_back_)
        say(Word::again);
    if (shows() && !all_.availability().wants_all()) say(Word::wants, packed(all_.availability().want()));
    join_showing();
}

// The extension handshake comes before the bitfield: until that is here a piece that it holds would be read for it.
void Neighbour::join_showing()
{
    Showing* const to = all_.showing();
    if (joined_ || !told_ || !counted_ || !heeds_shows() || to == nullptr) return;
    joined_ = true;
    to->joined(*this, {.spreads = all_.spreads(id()), .abroad = !across_.empty()}, has_, want_);
}

// Across the border

void Neighbour::note(std::uint32_t piece)
{
    all_.availability().added({piece});
    if (Border* const border = all_.border(); border != nullptr && !seeder()) filtered_ ? border->offered_abroad({piece}) : border->held_at_home({piece});
}

bool Neighbour::let_in(std::uint32_t piece)
{
    if (!all_.border()->lets_in({piece}, across_, Clock::now())) return false;
    let_in_[piece] = true;
    return true;
}

// What may be asked of it by now, and libtorrent was not told that it has: it says so again.
void Neighbour::look_across()
{
    if (!filtered_ || all_.availability().complete()) return;
    std::vector<bool> now(has_.size());
    bool some = false;
    for (std::uint32_t piece = 0; piece < has_.size(); ++piece) {
        if (!has_[piece] || let_in_[piece] || all_.availability().have()[piece]) continue;
        now[piece] = let_in(piece);
        some = some || now[piece];
    }
    if (some) say(Word::again, packed(now));
}

Showing* Neighbour::showing() const
{
    return joined_ ? all_.showing() : nullptr;
}

void Neighbour::say(Word word, std::string_view content)
{
    const std::uint8_t id = words_[static_cast<std::size_t>(word)];
    if (id == 0) return;
    const std::string message = word_message(id, content);
    send(message.data(), message.size());
}

void Neighbour::say_hungry()
{
    say(Word::hungry);
}

void Neighbour::show(PieceIndex piece)
{
    const auto have = have_message(piece);
    send(have.data(), have.size());
}

bool Neighbour::on_extended(int length, int message, lt::span<const char> body)
{
    const auto word = word_of(message);
    if (!word) return false;
    if (static_cast<int>(body.size()) >= length) answer(*word, {body.data(), static_cast<std::size_t>(length)});
    return true;
}

void Neighbour::answer(Word word, std::string_view content)
{
    if (word == Word::wants) {
        auto want = unpacked(content, has_.size());
        if (!want) return;
        want_ = std::move(*want);  // also if it has not joined the showing yet
    }
    heard();
    Showing* const to = showing();
    if (to == nullptr) {
        if (word == Word::again) say_again(content);
    } else if (word == Word::again) {
        to->show_again(*this);
    } else if (word == Word::hungry) {
        to->hungry(*this);
    } else {
        to->wants(*this, want_);
    }
}

// Of these pieces, or of all.
void Neighbour::say_again(std::string_view pieces)
{
    const std::vector<bool>& have = all_.availability().have();
    std::string said;
    if (const auto asked = unpacked(pieces, have.size()); asked && !pieces.empty()) {
        for (std::uint32_t piece = 0; piece < have.size(); ++piece) {
            if (!have[piece] || !(*asked)[piece]) continue;
            const auto message = have_message({piece});
            said.append(message.data(), message.size());
        }
    } else {
        said = bitfield_message(have);
    }
    send(said.data(), said.size());
}

void Neighbour::on_disconnect(const lt::error_code& /*error*/)
{
    if (Showing* const to = showing()) to->left(*this);
    if (filtered_) all_.border()->parted(across_);
    set_all(false);
    admitted_ = false;
    all_.left(*this);
}

// What it has

void Neighbour::heard()
{
    told_ = true;
    join_showing();
}

bool Neighbour::hidden()
{
    if (!admitted_) kept_back_ = true;
    return !admitted_;
}

void Neighbour::set(std::uint32_t piece, bool held)
{
    if (piece >= has_.size() || has_[piece] == held) return;
    has_[piece] = held;
    held ? ++held_ : --held_;
    if (!counted_) return;
    held ? note(piece) : all_.availability().removed({piece});
    if (Showing* const to = showing()) held ? to->has(*this, {piece}) : to->lost(*this, {piece});
}

void Neighbour::set_all(bool held)
{
    for (std::uint32_t piece = 0; piece < has_.size(); ++piece) set(piece, held);
}

bool Neighbour::on_have(lt::piece_index_t piece)
{
    set(number(piece), true);
    heard();
    return hidden() || (filtered_ && number(piece) < has_.size() && !let_in_[number(piece)] && !let_in(number(piece)));
}

bool Neighbour::on_dont_have(lt::piece_index_t piece)
{
    set(number(piece), false);
    heard();
    return hidden();
}

bool Neighbour::on_bitfield(const lt::bitfield& bits)
{
    for (std::uint32_t piece = 0; piece < std::min(has_.size(), static_cast<std::size_t>(bits.size())); ++piece) set(piece, bits[static_cast<int>(piece)]);
    heard();
    look_across();
    return shows() || filtered_ || hidden();
}

bool Neighbour::on_have_all()
{
    set_all(true);
    heard();
    look_across();
    return shows() || filtered_ || hidden();
}

bool Neighbour::on_have_none()
{
    set_all(false);
    heard();
    return !admitted_;
}

bool Neighbour::on_allowed_fast(lt::piece_index_t /*piece*/)
{
    return !admitted_;
}

bool Neighbour::on_suggest(lt::piece_index_t /*piece*/)
{
    return !admitted_;
}

// What is exchanged

bool Neighbour::on_request(const lt::peer_request& request)
{
    if (!admitted_) {
        if (unheeded_.size() < most_unheeded) unheeded_.push_back(request);
        return true;
    }
    all_.asked({number(request.piece)});
    return false;
}

bool Neighbour::on_piece(const lt::peer_request& piece, lt::span<const char> /*bytes*/)
{
    if (!admitted_) return true;
    all_.receiving(*this, piece);
    return false;
}

void Neighbour::sent_piece(const lt::peer_request& piece)
{
    all_.sent(*this, piece);
}

void Neighbour::tick()
{
    ++ticks_;
    if (shook_) heard();  // by now it has told all, or has nothing
    look_across();
    if (admitted_) return watch_silence();
    if (ticks_ > (shown_ ? ticks_for_admission : ticks_for_handshake) && !connection_.is_connecting()) hang_up();
}

void Neighbour::watch_silence()
{
    lt::peer_info info;
    connection_.get_peer_info(info);
    const bool held_back = static_cast<bool>(info.read_state & (lt::peer_info::bw_limit | lt::peer_info::bw_disk));  // by our own limits
    const bool owes = info.download_queue_length > 0;
    const bool sends = std::exchange(received_, info.total_download) != info.total_download;
    silent_ticks_ = owes && !sends && !held_back ? silent_ticks_ + 1 : 0;
    if (silent_ticks_ >= ticks_of_silence && all_.others_can_send(*this)) {
        all_.silent(*this);
        hang_up();
    } else if (silent_ticks_ >= ticks_of_silence_alone) {
        hang_up();
    }
}

}  // namespace shoal::swarm
