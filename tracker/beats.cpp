#include "tracker/beats.hpp"

#include "common/model/names.hpp"
#include "common/wire/beat.hpp"
#include "tracker/http_answers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace shoal::tracker {
namespace {

net::Response message(const wire::Reply& reply)
{
    return {.status = 200, .content_type = "application/msgpack", .body = wire::encode(reply), .headers = {}};
}

std::string version_refusal(std::uint32_t version)
{
    return "beat of version " + std::to_string(version) + ": this tracker speaks version " + std::to_string(wire::protocol_version) +
           " and understands the one before and the one after; use programs of neighbouring releases";
}

// A name that cannot be must not reach labels, pages and keys.
std::string name_refusal(const wire::Beat& beat)
{
    for (const auto& holding : beat.holdings) {
        if (holding.model.empty()) continue;
        if (const auto checked = model::check_model_name(holding.model); !checked) return checked.error().message;
    }
    return {};
}

}  // namespace

Beats::Beats(net::Loop& loop, Switchboard& board, obs::Metrics& metrics, std::function<TimePoint()> now)
    : loop_{loop}, board_{board}, metrics_{metrics}, now_{std::move(now)}
{}

void Beats::post(const net::Request& request, net::Respond respond)
{
    const auto began = Clock::now();
    const auto beat = wire::decode_beat(as_bytes(request.body));
    if (!beat) {
        count("malformed");
        respond(problem(beat.error()));
        return;
    }
    std::string refusal = wire::understood(beat.value().version) ? name_refusal(beat.value()) : version_refusal(beat.value().version);
    if (refusal.empty()) {
        take(beat.value(), request.remote, std::move(respond));
    } else {
        count("refused");
        wire::Reply reply;
        reply.tracker = board_.id();
        reply.refusal = std::move(refusal);
        respond(message(reply));
    }
    metrics_.observe(
        "shoal_beat_seconds", "Time to take a beat, without the time that its reply is held.", {}, std::chrono::duration<double>(Clock::now() - began).count());
}

void Beats::take(const wire::Beat& beat, const std::string& remote, net::Respond respond)
{
    wire::Reply reply;
    const auto answer = board_.take(beat, remote, now_(), reply);
    count(!reply.refusal.empty() ? "refused" : reply.need_full ? "need_full" : "taken");
    if (answer == Switchboard::Answer::now) {
        respond(message(reply));
    } else if (beat.wait_ms == 0) {
        end_older(beat.peer);
        respond(message(board_.reply(beat.peer, now_())));
        board_.told(beat.peer, now_());
    } else {
        end_older(beat.peer);
        hold(beat, std::move(respond));
    }
    schedule();
}

// What the older beat is told is news to the newer one all the same: its sender may have given the older one up.
void Beats::end_older(const PeerId& peer)
{
    const auto older = held_.extract(peer);
    if (!older.empty()) older.mapped()(message(board_.reply(peer, now_())));
}

void Beats::hold(const wire::Beat& beat, net::Respond respond)
{
    held_[beat.peer] = std::move(respond);
    const auto wait = std::min<Duration>(std::chrono::milliseconds{beat.wait_ms}, board_.beat());
    board_.hold(beat.peer, now_() + wait, now_());
}

void Beats::let_go()
{
    const TimePoint now = now_();
    for (const PeerId& peer : board_.release(now)) {
        const auto held = held_.extract(peer);
        if (held.empty()) continue;
        held.mapped()(message(board_.reply(peer, now)));
        board_.told(peer, now);
    }
    scheduled_.reset();
    schedule();
}

void Beats::end_gone()
{
    std::erase_if(held_, [this](auto& held) {
        if (board_.roster().find(held.first) != nullptr) return false;
        held.second(message(board_.reply(held.first, now_())));
        return true;
    });
}

void Beats::schedule()
{
    const auto next = board_.next_release();
    if (!next || (scheduled_ && *scheduled_ <= *next)) return;
    scheduled_ = next;
    next_ = loop_.after(std::max(Duration::zero(), *next - now_()), [this] { let_go(); });
}

void Beats::count(const char* outcome)
{
    metrics_.add("shoal_beats_total", "Beats, by what became of them.", {{"outcome", outcome}}, 1);
}

}  // namespace shoal::tracker
