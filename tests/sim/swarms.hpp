// Swarms that the simulator's tests play. A test that fails says which scenario it was, and its seed.
#pragma once

#include "common/sim/scenario.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

namespace shoal::sim {

constexpr double uplink = 12e6;  // bytes/s

inline Host host(double down_over_up = 2)
{
    Host made;
    made.up = uplink;
    made.down = down_over_up * uplink;
    return made;
}

// `count` equal hosts that come at once.
inline Scenario even(std::size_t count, std::uint64_t seed, double down_over_up = 2)
{
    Scenario scenario;
    scenario.seed = seed;
    scenario.seeder_up = uplink;
    scenario.hosts.assign(count, host(down_over_up));
    return scenario;
}

// How long one copy takes to leave the seeder.
inline Duration one_copy(const Scenario& scenario)
{
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(scenario.pieces * double{1} * scenario.piece_bytes / scenario.seeder_up));
}

// `change`s every `nth` host.
template <typename Change>
void change_every(Scenario& scenario, std::size_t nth, Change change)
{
    for (std::size_t i = 0; i < scenario.hosts.size(); i += nth) change(scenario.hosts[i]);
}

// Half of the hosts die, one after the other over most of the transfer, and another comes for each.
inline void replace_half(Scenario& scenario)
{
    const std::size_t count = scenario.hosts.size();
    for (std::size_t i = 0; i < count; i += 2) {
        const Duration when = one_copy(scenario) / 10 + one_copy(scenario) * static_cast<std::int64_t>(i) * 8 / static_cast<std::int64_t>(10 * count);
        Host another = scenario.hosts[i];
        another.joins = when;
        scenario.hosts[i].dies = when;
        scenario.hosts.push_back(another);
    }
}

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome)
{
    return out << "last/bound " << outcome.last_over_bound() << ", median/bound " << outcome.median_over_bound() << ", copies " << outcome.copies
               << ", crossed " << outcome.crossed << ", unfinished " << outcome.unfinished << ", overruns " << outcome.overruns;
}

// What holds of every swarm.
inline void check_always(const Scenario& scenario, const Outcome& outcome)
{
    EXPECT_EQ(outcome.unfinished, 0U) << outcome;
    EXPECT_EQ(outcome.overruns, 0U) << "shown beyond the window";
    EXPECT_LE(outcome.busiest_second, scenario.seeder_up * 1.05) << "bytes in one second";
    if (scenario.origin_limit > 0) {
        EXPECT_LE(outcome.busiest_read, static_cast<double>(scenario.origin_limit) * 1.05) << "bytes read in one second";
    }
    EXPECT_GE(outcome.copies, 0.999) << "somebody has what never left the seeder";
    const std::uint64_t bytes = std::uint64_t{scenario.pieces} * scenario.piece_bytes;
    for (const HostOutcome& each : outcome.hosts) {
        EXPECT_LE(each.received, bytes) << "a piece came twice";
        EXPECT_LE(each.neighbours, 2 * scenario.handout.most);
    }
}

class Simulated : public ::testing::TestWithParam<std::uint64_t> {
protected:
    static Outcome played(const Scenario& scenario)
    {
        SCOPED_TRACE("seed " + std::to_string(scenario.seed) + ", " + std::to_string(scenario.hosts.size()) + " hosts");
        Outcome outcome = play(scenario);
        check_always(scenario, outcome);
        return outcome;
    }
};

}  // namespace shoal::sim
