#include "common/swarm/availability.hpp"

#include "common/core/random.hpp"

#include <gtest/gtest.h>

namespace shoal::swarm {
namespace {

TEST(Availability, TellsWhatNobodyHasAndWhatOnlyWeHave)
{
    Availability all{{true, false, false, false}, {true, true, true, false}};
    EXPECT_EQ(all.only_ours(), 1U);
    EXPECT_EQ(all.nobodys(), 2U);  // what is not wanted does not count
    all.added({0});
    all.added({1});
    EXPECT_EQ(all.only_ours(), 0U);
    EXPECT_EQ(all.nobodys(), 1U);
    all.gained({1});
    EXPECT_EQ(all.only_ours(), 0U);
    all.removed({1});
    EXPECT_EQ(all.only_ours(), 1U);
    EXPECT_FALSE(all.complete());
    all.gained({2});
    EXPECT_TRUE(all.complete());
    EXPECT_EQ(all.nobodys(), 0U);
    EXPECT_EQ(all.only_ours(), 2U);
}

TEST(Availability, APieceThatIsGainedTwiceCountsOnce)
{
    Availability all{{false, false}, {true, true}};
    all.gained({0});
    all.gained({0});
    EXPECT_FALSE(all.complete());
    EXPECT_EQ(all.only_ours(), 1U);
}

TEST(Availability, WhereNothingIsWantedAllIsHere)
{
    EXPECT_TRUE((Availability{{false, false}, {false, false}}.complete()));
    EXPECT_TRUE((Availability{{}, {}}.complete()));
    const Availability whole{{true, true}, {true, true}};
    EXPECT_TRUE(whole.complete());
    EXPECT_EQ(whole.nobodys(), 0U);
}

TEST(Availability, AWholeSwarmOfHoldersIsCounted)
{
    Availability all{{true}, {true}};
    for (int i = 0; i < 10'000; ++i) all.added({0});
    for (int i = 0; i < 9'999; ++i) all.removed({0});
    EXPECT_EQ(all.only_ours(), 0U);
    all.removed({0});
    EXPECT_EQ(all.only_ours(), 1U);
}

class AnyOrder : public testing::TestWithParam<std::uint64_t> {};

// Random events, held against counting anew.
TEST_P(AnyOrder, CountsWhatCountingAnewCounts)
{
    Random random{GetParam()};
    const auto dice = [&random](unsigned sides) { return std::uniform_int_distribution<unsigned>{0, sides - 1}(random); };
    std::vector<bool> have, want;
    for (int i = 0; i < 12; ++i) {
        have.push_back(dice(3) == 0);
        want.push_back(dice(3) != 0);
    }
    Availability all{have, want};
    std::vector<unsigned> holders(have.size());
    for (int step = 0; step < 300; ++step) {
        const std::uint32_t piece = dice(static_cast<unsigned>(have.size()));
        switch (dice(3)) {
        case 0:
            all.gained({piece});
            have[piece] = true;
            break;
        case 1:
            all.added({piece});
            ++holders[piece];
            break;
        default:
            if (holders[piece] == 0) break;
            all.removed({piece});
            --holders[piece];
        }
        std::uint32_t only_ours = 0, nobodys = 0, missing = 0;
        for (std::size_t i = 0; i < have.size(); ++i) {
            only_ours += have[i] && holders[i] == 0 ? 1 : 0;
            nobodys += want[i] && !have[i] && holders[i] == 0 ? 1 : 0;
            missing += want[i] && !have[i] ? 1 : 0;
        }
        ASSERT_EQ(all.only_ours(), only_ours) << step;
        ASSERT_EQ(all.nobodys(), nobodys) << step;
        ASSERT_EQ(all.complete(), missing == 0) << step;
        ASSERT_EQ(all.have(), have);
    }
}

INSTANTIATE_TEST_SUITE_P(Availability, AnyOrder, testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace shoal::swarm
