// The trackers as one: beats to every address their names resolve to, and asks whichever answers. All on the loop.
#pragma once

#include "common/control/question.hpp"
#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/net/loop.hpp"
#include "common/wire/beat.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shoal::control {

inline constexpr const char* default_tracker = "http://shoal-tracker.shoal:8080";

// What the program must tell and hear: implemented by its owner, called on the loop.
class View {
public:
    View() = default;
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    virtual ~View() = default;
    // The whole state, `received` as totals; the client fills sequence, full and wait_ms, and makes deltas.
    virtual wire::Beat beat() = 0;
    // Every answer, once. `refusal` and `warning` are the program's to log, where they change.
    virtual void on_reply(const wire::Reply& reply) = 0;
    [[nodiscard]] virtual bool hold() const = 0;  // ask that replies be held until there is news
};

struct TrackerState {
    std::string address;    // "10.0.0.1:8080 (shoal-tracker.shoal)"
    bool answered = false;  // its last beat was
    std::string cause;      // why not, or the tracker's refusal
};

class Client {
public:
    // `trackers`: URLs. Names are resolved again every 10 s; trackers with one tracker id count once.
    // Beats as told by the replies, jittered by a fifth; a tracker that does not answer is tried again after 0.5 s, doubled up to one
    // and a half beats (10 s at most), jittered.
    Client(net::Loop& loop, std::vector<std::string> trackers, View& view);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void start();     // the first beat, at once; without it only get() works
    void beat_now();  // the state changed in a way that others wait for; at most ten a second
    // Any tracker that answers is asked, others tried in turn until time is up: the body of a 200 that the question accepts; 404 is not_found with the
    // problem's detail; else timed_out naming every address and its cause.
    void get(Question question, std::function<void(Result<std::string>)> done);
    void leave(std::function<void()> done);  // tells all, waits 1 s at most; then no more beats
    [[nodiscard]] std::vector<TrackerState> trackers() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::control
