// Zones: a piece crosses into each but the seeder's once, or nearly so.
#include "tests/sim/swarms.hpp"

namespace shoal::sim {
namespace {

class Zones : public Simulated {};

// `border`: of each zone, in uplinks; 0: as wide as it likes.
Scenario zoned(std::size_t zones, std::size_t in_each, std::uint64_t seed, double border = 0)
{
    Scenario scenario = even(zones * in_each, seed);
    for (std::size_t i = 0; i < scenario.hosts.size(); ++i) scenario.hosts[i].zone = "z" + std::to_string(i % zones);
    scenario.seeder_zone = "z0";
    scenario.border = border * uplink;
    return scenario;
}

void check_crossing(const Scenario& scenario, const Outcome& outcome, std::size_t zones)
{
    const double crossed = outcome.crossed / static_cast<double>(zones - 1);
    EXPECT_LE(crossed, 1.03) << outcome;
    EXPECT_GE(crossed, 0.99) << outcome;
    EXPECT_LE(outcome.last_over_bound(), scenario.border == 0 ? 1.04 : 1.08) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

TEST_P(Zones, EachPieceCrossesIntoAZoneOnceAndABorderAsWideAsOneUplinkIsEnough)
{
    for (const std::size_t zones : {2U, 3U}) {
        for (const std::size_t in_each : {4U, 30U}) {
            for (const double border : {0.0, 1.0}) {
                SCOPED_TRACE(std::to_string(zones) + " zones of " + std::to_string(in_each) + ", border " + std::to_string(border));
                const Scenario scenario = zoned(zones, in_each, GetParam(), border);
                check_crossing(scenario, played(scenario), zones);
            }
        }
    }
}

TEST_P(Zones, AZonesPiecesComeAcrossAlsoWhenThoseWhoWouldTakeThemDie)
{
    Scenario scenario = zoned(2, 20, GetParam());
    for (std::size_t i = 1; i < 20; i += 4) scenario.hosts[i].dies = one_copy(scenario) / 2;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.crossed, 1.15) << outcome;
    EXPECT_LE(outcome.last_over_bound(), 1.3) << outcome;
}

TEST_P(Zones, OneThatTakesAndGivesNothingDoesNotCloseTheBorder)
{
    Scenario scenario = zoned(2, 10, GetParam());
    scenario.hosts[1].conduct = Conduct::silent;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.crossed, 1.3) << outcome;
    EXPECT_LE(outcome.last_over_bound(), 1.5) << outcome;
}

TEST_P(Zones, WhereNobodyIsInTheSeedersZoneItFeedsTheOthers)
{
    Scenario scenario = zoned(2, 10, GetParam());
    scenario.seeder_zone = "elsewhere";
    (void)played(scenario);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Zones, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace shoal::sim
