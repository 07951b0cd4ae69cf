// What people should know of the trackers, logged when it changes: that some do not answer, and what they object to. On the loop.
#pragma once

#include "common/control/client.hpp"
#include "common/wire/beat.hpp"

#include <string>
#include <vector>

namespace shoal::control {

class TrackerVoice {
public:
    void heard(const wire::Reply& reply);
    void look(const std::vector<TrackerState>& trackers);

private:
    std::string said_;    // by a tracker, last
    std::string silent_;  // addresses of those that do not answer
};

}  // namespace shoal::control
