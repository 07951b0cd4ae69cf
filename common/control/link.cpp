#include "common/control/link.hpp"

#include "common/control/retry.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace shoal::control {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_flights = 2;
constexpr Duration least_gap = 100ms;
constexpr Duration connect_within = 3s;
constexpr Duration answer_within = 5s;  // beyond the time it may be held
constexpr std::uint64_t probe_every = 8;

constexpr const char* beat_path = "/control/v1/beat";

std::uint32_t to_ms(Duration duration)
{
    return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

net::ClientRequest request_to(const Place& place, const wire::Beat& beat)
{
    net::ClientRequest request;
    request.method = "POST";
    request.host = place.address;
    request.port = place.port;
    request.host_header = place.authority;
    request.target = place.base + beat_path;
    request.content_type = "application/msgpack";
    request.body = wire::encode(beat);
    request.max_reply = wire::max_reply_bytes;
    request.connect_within = connect_within;
    return request;
}

Result<wire::Reply> reply_from(const Result<net::ClientResponse>& response)
{
    if (!response) return failure(response.error());
    if (response.value().status != 200) return failure(Errc::io, "HTTP status " + std::to_string(response.value().status));
    auto reply = wire::decode_reply(as_bytes(response.value().body));
    if (!reply) return failure(reply.error());
    if (wire::understood(reply.value().version)) return reply;
    return failure(Errc::malformed, "the tracker speaks version " + std::to_string(reply.value().version) + " of the control protocol, this program " +
                                        std::to_string(wire::protocol_version));
}

}  // namespace

Link::Link(net::Loop& loop, net::HttpClient& http, Owner& owner, Place place, std::uint64_t after)
    : loop_{loop}, http_{http}, owner_{owner}, places_{std::move(place)}, told_{after}
{
    next_in({});
}

void Link::next_in(Duration wait)
{
    timer_ = loop_.after(wait, [this] { beat(); });
}

void Link::beat_now()
{
    if (failures_ > 0) return;  // the next try tells it all
    due_ = flights_.size() >= most_flights;
    if (!due_) next_in(std::max(last_sent_ + least_gap - Clock::now(), Duration{}));
}

void Link::beat()
{
    if (places_.empty() || farewell_) return;
    wire::Beat whole = owner_.state();
    const Duration wait = owner_.hold() ? beat_ : Duration{};
    whole.wait_ms = to_ms(wait);
    whole.leaving = false;
    const Place place = pick();
    due_ = false;
    next_in(wait + connect_within + answer_within + beat_);  // in case nothing comes back at all
    send(told_.next(std::move(whole)), place, wait);
}

const Place& Link::pick()
{
    ++sent_;
    const bool probe = places_.size() > 1 && failures_ == 0 && sent_ % probe_every == 0;
    if (!probe) return places_.front();
    return places_[1 + sent_ / probe_every % (places_.size() - 1)];
}

void Link::send(const wire::Beat& beat, const Place& place, Duration wait)
{
    net::ClientRequest request = request_to(place, beat);
    request.answer_within = wait + answer_within;
    last_sent_ = Clock::now();
    const std::uint64_t sequence = beat.sequence;
    Flight& flight = flights_[sequence];
    flight = {nullptr, last_sent_, place, wait};
    flight.request = http_.send(std::move(request), [this, sequence](const Result<net::ClientResponse>& response) { heard(sequence, response); });
}

void Link::heard(std::uint64_t sequence, const Result<net::ClientResponse>& response)
{
    const Flight flight = std::move(flights_.at(sequence));
    flights_.erase(sequence);
    const auto reply = reply_from(response);
    if (reply) {
        const std::size_t said = std::hash<std::string>{}(response.value().body);
        const bool news = std::exchange(said_, said) != said;
        take(sequence, flight, reply.value(), news);
    } else {
        failed(sequence, flight.place, reply.error().message);
    }
}

void Link::take(std::uint64_t sequence, const Flight& flight, const wire::Reply& reply, bool news)
{
    failures_ = 0;
    causes_[flight.place] = reply.refusal;
    beat_ = std::clamp<Duration>(std::chrono::milliseconds{reply.beat_ms}, 200ms, 60s);
    bool is_last = true;  // else an answer to a later beat has been here
    if (!reply.refusal.empty())
        told_.failed(sequence);
    else
        is_last = told_.answered(sequence, reply.need_full);
    if (flights_.empty() || due_) next_in(wait_after(flight, reply, news));
    if (is_last) owner_.answered(*this, flight.place, reply);
}

// When to beat again after an answer: at once what the tracker lacks, at the next beat without a hold. With one, as soon as the answer is here, so that the
// tracker always has a beat to answer; more and more slowly if it answers without holding, and nothing new.
Duration Link::wait_after(const Flight& flight, const wire::Reply& reply, bool news)
{
    const TimePoint now = Clock::now();
    const bool held = flight.wait > Duration{} && now - flight.sent > flight.wait / 3;
    quick_ = held || news || (flight.wait == Duration{} && !reply.need_full) ? 0 : std::min(quick_ + 1, 10U);
    Duration wait = jittered(beat_, random_);
    if (reply.refusal.empty() && (reply.need_full || flight.wait > Duration{}))
        wait = held ? Duration{} : std::min<Duration>(least_gap * (1LL << quick_) / 2, wait);
    if (due_) wait = Duration{};
    return std::max(wait, last_sent_ + least_gap - now);
}

// Less than two beats, within which a tracker that is back knows all again.
Duration Link::longest_retry() const
{
    return std::clamp<Duration>(beat_ + beat_ / 2, 1s, 10s);
}

void Link::failed(std::uint64_t sequence, const Place& place, const std::string& cause)
{
    told_.failed(sequence);
    causes_[place] = cause.empty() ? "no answer" : cause;
    if (farewell_ || places_.empty()) return;
    if (place != places_.front()) return next_in(jittered(least_gap, random_));  // a look at another address; this one still stands
    std::rotate(places_.begin(), places_.begin() + 1, places_.end());
    ++failures_;
    const bool others = failures_ < places_.size();  // not all have been tried
    next_in(others ? jittered(least_gap, random_) : retry_delay(failures_ - static_cast<unsigned>(places_.size()) + 1, longest_retry(), random_));
}

void Link::add(const Place& place, std::uint64_t sequence)
{
    told_.follow(sequence);
    if (std::find(places_.begin(), places_.end(), place) == places_.end()) places_.push_back(place);
}

void Link::remove(const Place& place)
{
    std::erase(places_, place);
    causes_.erase(place);
}

void Link::became(const TrackerId& id)
{
    if (id_ == id) return;
    if (id_) told_.forget();
    id_ = id;
}

bool Link::is_answering(const Place& place) const
{
    const auto cause = causes_.find(place);
    return cause != causes_.end() && cause->second.empty();
}

std::string Link::cause(const Place& place) const
{
    const auto cause = causes_.find(place);
    return cause == causes_.end() ? std::string{} : cause->second;
}

void Link::leave(std::function<void()> done)
{
    timer_.reset();
    if (places_.empty()) return done();
    wire::Beat last = owner_.state();
    last.leaving = true;
    last.holdings.clear();
    last.received.clear();
    last.wait_ms = 0;
    last.sequence = told_.next(last).sequence;
    net::ClientRequest request = request_to(places_.front(), last);
    request.connect_within = request.answer_within = 1s;
    farewell_ = http_.send(std::move(request), [done = std::move(done)](const Result<net::ClientResponse>&) { done(); });
}

}  // namespace shoal::control
