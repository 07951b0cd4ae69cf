// Hosts that die, take and give nothing, are slow, lie, or cannot be dialled: the others stay near the bound.
#include "tests/sim/swarms.hpp"

#include <algorithm>

namespace shoal::sim {
namespace {

class Trouble : public Simulated {};

constexpr std::size_t hosts = 100;

// The last of those that do as they should, over the bound.
double last_honest_over_bound(const Scenario& scenario, const Outcome& outcome)
{
    Duration last{};
    for (std::size_t i = 0; i < scenario.hosts.size(); ++i)
        if (scenario.hosts[i].conduct == Conduct::honest && outcome.hosts[i].took) last = std::max(last, *outcome.hosts[i].took);
    return std::chrono::duration<double>(last).count() / outcome.bound;
}

TEST_P(Trouble, HalfOfThePeersKilledAndReplacedCostTheOriginLittle)
{
    Scenario scenario = even(hosts, GetParam());
    replace_half(scenario);
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.copies, 1.02) << outcome;
    EXPECT_LE(outcome.last_over_bound(), 1.1) << outcome;
}

TEST_P(Trouble, PeersThatDieWithPiecesOnlyTheyHadLeaveNoHole)
{
    Scenario scenario = even(8, GetParam());
    for (std::size_t i = 0; i < 7; ++i) scenario.hosts[i].dies = one_copy(scenario) * static_cast<std::int64_t>(i + 1) / 8;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.copies, 1.15) << outcome;
}

TEST_P(Trouble, SilentPeersLeaveTheOthersNearTheBound)
{
    Scenario scenario = even(hosts, GetParam());
    change_every(scenario, 10, [](Host& each) { each.conduct = Conduct::silent; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(last_honest_over_bound(scenario, outcome), 1.15) << outcome;
    EXPECT_LE(outcome.median_over_bound(), 1.05) << outcome;
    EXPECT_LE(outcome.copies, 1.15) << outcome;
}

TEST_P(Trouble, TwoSilentPeersOfEightHardlyDelayTheOthers)
{
    Scenario scenario = even(8, GetParam());
    change_every(scenario, 5, [](Host& each) { each.conduct = Conduct::silent; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.07) << outcome;
    EXPECT_LE(outcome.copies, 1.05) << outcome;
}

TEST_P(Trouble, SlowPeersLeaveTheOthersNearTheBound)
{
    Scenario scenario = even(hosts, GetParam());
    change_every(scenario, 10, [](Host& each) { each.up = uplink / 20; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.15) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

TEST_P(Trouble, LyingPeersLeaveTheOthersNearTheBound)
{
    Scenario scenario = even(hosts, GetParam());
    change_every(scenario, 10, [](Host& each) { each.conduct = Conduct::lying; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(last_honest_over_bound(scenario, outcome), 1.15) << outcome;
    EXPECT_LE(outcome.median_over_bound(), 1.05) << outcome;
    EXPECT_LE(outcome.copies, 1.15) << outcome;
}

TEST_P(Trouble, PeersThatNobodyCanDialAreFedByThoseTheyDial)
{
    Scenario scenario = even(hosts, GetParam());
    change_every(scenario, 3, [](Host& each) { each.dialable = false; });
    const Outcome outcome = played(scenario);
    for (std::size_t i = 0; i < hosts; i += 3) EXPECT_EQ(outcome.hosts[i].shown, 0U) << "host " << i << " is counted on to spread";
    EXPECT_LE(outcome.last_over_bound(), 1.10) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

// Two of them never meet, so that all their pieces come from the other half: the time grows, and the origin's bytes do not.
TEST_P(Trouble, HalfOfThePeersThatNobodyCanDialCostTheOriginNothing)
{
    Scenario scenario = even(hosts, GetParam());
    change_every(scenario, 2, [](Host& each) { each.dialable = false; });
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.5) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

TEST_P(Trouble, AMuchSlowerDownlinkHoldsUpItsOwnerAlone)
{
    Scenario scenario = even(hosts, GetParam());
    scenario.hosts[5].down = uplink / 2;
    const Outcome outcome = played(scenario);
    EXPECT_LE(outcome.last_over_bound(), 1.05) << outcome;  // the bound is the slow one's
    EXPECT_LE(outcome.median_over_bound(), 0.55) << outcome;
    EXPECT_LE(outcome.copies, 1.01) << outcome;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Trouble, ::testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace shoal::sim
