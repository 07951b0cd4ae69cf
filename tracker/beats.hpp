// Where beats arrive and replies are held until there is news. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/obs/metrics.hpp"
#include "tracker/switchboard.hpp"

#include <functional>
#include <unordered_map>

namespace shoal::tracker {

class Beats {
public:
    Beats(net::Loop& loop, Switchboard& board, obs::Metrics& metrics, std::function<TimePoint()> now);

    void post(const net::Request& request, net::Respond respond);  // POST /control/v1/beat
    void let_go();                                                 // answers the held ones that are due, and sees to the next
    void end_gone();                                               // answers those whose process is known to have gone

private:
    void take(const wire::Beat& beat, const std::string& remote, net::Respond respond);
    void end_older(const PeerId& peer);
    void hold(const wire::Beat& beat, net::Respond respond);
    void schedule();
    void count(const char* outcome);

    net::Loop& loop_;
    Switchboard& board_;
    obs::Metrics& metrics_;
    std::function<TimePoint()> now_;
    std::unordered_map<PeerId, net::Respond> held_;
    net::Handle next_;
    std::optional<TimePoint> scheduled_;
};

}  // namespace shoal::tracker
