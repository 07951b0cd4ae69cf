// The beats to one tracker: when, by which of its addresses, and what an answer means. On the loop.
#pragma once

#include "common/control/directory.hpp"
#include "common/control/told.hpp"
#include "common/core/clock.hpp"
#include "common/core/random.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/wire/beat.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::control {

// At most two beats are under way: one that the tracker holds, and one that brings news and makes it let go of the first. With more than one address every
// eighth beat goes to the next of them, which finds out when that has become another tracker, and after a failure the next one takes over.
class Link {
public:
    // What a link needs to know and tells: implemented by its owner, called on the loop.
    class Owner {
    public:
        Owner() = default;
        Owner(const Owner&) = delete;
        Owner& operator=(const Owner&) = delete;
        virtual ~Owner() = default;
        virtual wire::Beat state() = 0;
        [[nodiscard]] virtual bool hold() const = 0;
        // May destroy the link, and is the last thing that the link does. `place` answered as `reply.tracker`.
        virtual void answered(Link& link, const Place& place, const wire::Reply& reply) = 0;
    };

    // `after`: no other link of this process has used a greater sequence number towards this tracker.
    Link(net::Loop& loop, net::HttpClient& http, Owner& owner, Place place, std::uint64_t after);

    void beat_now();                                       // at once, or 100 ms after the last; not while it is waiting to try again
    void leave(std::function<void()> done);                // a last beat, whatever is under way; `done` when it has been answered or failed
    void add(const Place& place, std::uint64_t sequence);  // one more address of this tracker, where others have beaten up to `sequence`
    void remove(const Place& place);                       // an address that is gone, or another tracker's
    void became(const TrackerId& id);                      // the tracker at its addresses
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }
    [[nodiscard]] const std::optional<TrackerId>& id() const { return id_; }
    [[nodiscard]] std::uint64_t sequence() const { return told_.sequence(); }  // of the last beat
    [[nodiscard]] bool is_answering(const Place& place) const;
    [[nodiscard]] std::string cause(const Place& place) const;  // why it does not answer, or the tracker's refusal; empty if it has not been asked

private:
    struct Flight {
        net::Handle request;
        TimePoint sent;
        Place place;
        Duration wait{};
    };
    void beat();
    void send(const wire::Beat& beat, const Place& place, Duration wait);
    void heard(std::uint64_t sequence, const Result<net::ClientResponse>& response);
    void take(std::uint64_t sequence, const Flight& flight, const wire::Reply& reply, bool news);
    void failed(std::uint64_t sequence, const Place& place, const std::string& cause);
    void next_in(Duration wait);
    [[nodiscard]] Duration wait_after(const Flight& flight, const wire::Reply& reply, bool news);  // `news`: it is not what the last one said
    [[nodiscard]] Duration longest_retry() const;
    [[nodiscard]] const Place& pick();

    net::Loop& loop_;
    net::HttpClient& http_;
    Owner& owner_;
    std::vector<Place> places_;  // the one in use first
    std::optional<TrackerId> id_;
    Told told_;
    Random random_{random_seed()};
    std::map<std::uint64_t, Flight> flights_;
    std::map<Place, std::string> causes_;
    Duration beat_ = std::chrono::seconds{3};
    TimePoint last_sent_{};
    std::uint64_t sent_ = 0;
    unsigned failures_ = 0;
    unsigned quick_ = 0;    // answers in a row that were not held, and nothing new
    std::size_t said_ = 0;  // the last answer's hash
    bool due_ = false;      // news waits for a flight to end
    net::Handle timer_;
    net::Handle farewell_;
};

}  // namespace shoal::control
