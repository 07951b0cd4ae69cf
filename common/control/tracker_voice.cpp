#include "common/control/tracker_voice.hpp"

#include "common/obs/log.hpp"

#include <utility>

namespace shoal::control {

void TrackerVoice::heard(const wire::Reply& reply)
{
    const std::string& text = reply.refusal.empty() ? reply.warning : reply.refusal;
    if (text.empty() || text == said_) return;
    said_ = text;
    obs::log(obs::Level::warning, reply.refusal.empty() ? "a tracker warns" : "a tracker refuses beats", {{"cause", text}});
}

void TrackerVoice::look(const std::vector<TrackerState>& trackers)
{
    std::string silent;
    std::string causes;
    for (const TrackerState& tracker : trackers) {
        if (tracker.answered || tracker.cause.empty()) continue;
        silent += tracker.address + " ";
        causes += (causes.empty() ? "" : "; ") + tracker.cause;
    }
    if (silent == silent_) return;
    const bool better = silent.empty();
    silent_ = std::move(silent);
    if (better)
        obs::log(obs::Level::info, "all trackers answer");
    else
        obs::log(obs::Level::warning, "a tracker does not answer", {{"cause", causes}});
}

}  // namespace shoal::control
