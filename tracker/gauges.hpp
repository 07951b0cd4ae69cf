// The tracker's numbers for /metrics, set when somebody asks. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/obs/metrics.hpp"
#include "tracker/library.hpp"
#include "tracker/switchboard.hpp"

#include <set>
#include <string>
#include <utility>

namespace shoal::tracker {

class Gauges {
public:
    Gauges(obs::Metrics& metrics, const Switchboard& board, const Library& library) : metrics_{metrics}, board_{board}, library_{library} {}

    void refresh(TimePoint now);  // label sets that have ended are dropped

private:
    using LabelSets = std::set<std::pair<std::string, obs::Labels>>;
    void set(const std::string& name, const std::string& help, const obs::Labels& labels, double value);
    void set_nodes();
    void set_revisions();

    obs::Metrics& metrics_;
    const Switchboard& board_;
    const Library& library_;
    LabelSets shown_, before_;
};

}  // namespace shoal::tracker
