// Honest hosts: how near to the bound, and how often a piece leaves the seeder.
#include "tests/sim/swarms.hpp"

#include <algorithm>
#include <numeric>

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

// Of few pieces, so that it takes seconds: with the table's 1000 see tests/bench/simulator.cpp.
TEST_P(Large, TenThousandTakeOneCopy)
{
    Scenario scenario = even(10'000, GetParam());
    scenario.pieces = 200;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.2) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
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
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

// The bound assumes that the seeder never rests: with one copy it does, after a tenth of the time here.
TEST_P(Spread, MoreCopiesShortenTheTimeWhereTheOriginHasRoom)
{
    Scenario scenario = even(20, GetParam(), 20);
    scenario.seeder_up = 20 * uplink;
    const Outcome one = played(scenario);
    EXPECT_LE(one.copies, 1.01) << one;
    scenario.origin_copies = 4;
    const Outcome four = played(scenario);
    EXPECT_LE(four.copies, 4.01) << four;
    EXPECT_LT(four.last, one.last * 9 / 10) << one << four;
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

TEST_P(Spread, EqualHostsGiveEqually)
{
    const Outcome outcome = played(even(100, GetParam()));
    const auto gives_less = [](const HostOutcome& a, const HostOutcome& b) { return a.given < b.given; };
    const auto [least, most] = std::minmax_element(outcome.hosts.begin(), outcome.hosts.end(), gives_less);
    const double share = 256.0 * 1024 * 1000;  // of N copies, less the seeder's
    EXPECT_GE(static_cast<double>(least->given), share * 0.9);
    EXPECT_LE(static_cast<double>(most->given), share * 1.1);
    EXPECT_LE(outcome.last_over_median(), 1.02) << outcome;
}

// That it is never exceeded holds of every swarm: see check_always().
TEST_P(Spread, ACeilingOnTheOriginIsUsedToAtLeastNinetyFivePercent)
{
    for (const std::uint64_t limit : {4'000'000U, 11'000'000U}) {
        for (const std::size_t hosts : {1U, 8U, 100U}) {
            Scenario scenario = even(hosts, GetParam());
            scenario.origin_limit = limit;
            const Outcome outcome = played(scenario);
            EXPECT_LE(outcome.last_over_bound(), 1 / 0.95) << outcome;
            EXPECT_GE(outcome.busiest_read, static_cast<double>(limit) * 0.95);
        }
    }
}

TEST_P(Spread, ACeilingOnTheOriginHoldsAlsoWhileHalfOfThePeersAreReplaced)
{
    Scenario scenario = even(100, GetParam());
    replace_half(scenario);
    scenario.origin_limit = 11'000'000;
    EXPECT_LE(played(scenario).last_over_bound(), 1.5);
}

TEST_P(Spread, ALongWayBetweenAllCostsLittle)
{
    Scenario scenario = even(100, GetParam());
    scenario.delay = 20ms;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.04) << outcome;
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
    EXPECT_LE(outcome.last_over_bound(), 1.05) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
    const auto shown = [](std::uint64_t sum, const HostOutcome& each) { return sum + each.shown; };
    const std::uint64_t to_the_late = std::accumulate(outcome.hosts.begin() + 100, outcome.hosts.end(), std::uint64_t{0}, shown);
    EXPECT_LE(to_the_late, std::uint64_t{scenario.pieces} * scenario.piece_bytes / 7);  // what nobody had before they came
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
