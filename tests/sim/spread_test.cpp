// Honest hosts: how near to the bound, and how often a piece leaves the seeder.
#include "tests/sim/swarms.hpp"

namespace shoal::sim {
namespace {

using namespace std::chrono_literals;

class Large : public Simulated {};
class Spread : public Simulated {};

TEST_P(Large, AThousandWithTwiceTheDownlinkFinishWithinSixPercentOfTheBound)
{
    const Outcome outcome = played(even(1000, GetParam()));
    EXPECT_LE(outcome.last_over_bound(), 1.06) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
    EXPECT_LE(outcome.last_over_median(), 1.02) << outcome;
}

TEST_P(Large, AThousandWithSymmetricLinksFinishWithinTwelvePercentOfTheBound)
{
    const Outcome outcome = played(even(1000, GetParam(), 1));
    EXPECT_LE(outcome.last_over_bound(), 1.12) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
    EXPECT_LE(outcome.last_over_median(), 1.02) << outcome;
}

TEST_P(Spread, ALonePeerGetsAllThatTheSeederCanSend)
{
    const Outcome outcome = played(even(1, GetParam()));
    EXPECT_LE(outcome.last_over_bound(), 1.01) << outcome;
}

TEST_P(Spread, EightPeersAreHardlySlowerThanOne)
{
    const Outcome outcome = played(even(8, GetParam()));
    EXPECT_LE(outcome.last_over_bound(), 1.02) << outcome;
    EXPECT_LE(outcome.copies, 1.0) << outcome;
}

TEST_P(Spread, UplinksOfFourAndTwentyMegabytesGiveByWhatTheyHave)
{
    Scenario scenario = even(100, GetParam(), 4);
    for (Host& each : scenario.hosts) each.up = 20e6;
    change_every(scenario, 2, [](Host& each) { each.up = 4e6; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.05) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
    EXPECT_GE(outcome.hosts[1].given, 3 * outcome.hosts[0].given);
}

TEST_P(Spread, ALongWayBetweenAllCostsLittle)
{
    Scenario scenario = even(100, GetParam());
    scenario.delay = 20ms;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.12) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

TEST_P(Spread, LateComersAreFedByTheSwarm)
{
    Scenario scenario = even(100, GetParam());
    for (std::size_t i = 0; i < 50; ++i) {
        Host late = host();
        late.joins = one_copy(scenario) * 2 / 3;
        scenario.hosts.push_back(late);
    }
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.25) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

TEST_P(Spread, TheSameSeedHasTheSameOutcome)
{
    Scenario scenario = even(60, GetParam());
    replace_half(scenario);
    const Outcome one = played(scenario);
    const Outcome two = played(scenario);
    EXPECT_EQ(one.last, two.last);
    EXPECT_EQ(one.transfers, two.transfers);
    scenario.seed += 100;
    EXPECT_NE(one.last, played(scenario).last);
}

INSTANTIATE_TEST_SUITE_P(Seed, Large, ::testing::Values<std::uint64_t>(1));
INSTANTIATE_TEST_SUITE_P(Seeds, Spread, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace shoal::sim
