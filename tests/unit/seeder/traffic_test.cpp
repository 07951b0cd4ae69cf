#include "seeder/traffic.hpp"

#include <gtest/gtest.h>

namespace shoal::seeder {
namespace {

TEST(Traffic, KeepsWhatARevisionMovedBeforeItWasDropped)
{
    Traffic traffic;
    const RevisionId revision{{1}};
    EXPECT_EQ(traffic.now(revision, {100, 300}).sent, 300U);
    EXPECT_EQ(traffic.now(revision, {100, 350}).sent, 50U);
    traffic.removed(revision);
    EXPECT_EQ(traffic.now(revision, {10, 20}).sent, 20U);
    EXPECT_EQ(traffic.total(revision).from_origin, 110U);
    EXPECT_EQ(traffic.total(revision).sent, 370U);
}

TEST(Traffic, NeverGoesBack)
{
    Traffic traffic;
    const RevisionId revision{{1}};
    traffic.now(revision, {100, 300});
    EXPECT_EQ(traffic.now(revision, {50, 200}).sent, 0U);
    EXPECT_EQ(traffic.total(revision).sent, 300U);
}

TEST(Traffic, ForgetsWhatIsNotKnownAnyMore)
{
    Traffic traffic;
    traffic.now({{1}}, {1, 1});
    traffic.now({{2}}, {2, 2});
    traffic.keep([](const RevisionId& revision) { return revision == RevisionId{{2}}; });
    EXPECT_EQ(traffic.total({{1}}).sent, 0U);
    EXPECT_EQ(traffic.total({{2}}).sent, 2U);
}

}  // namespace
}  // namespace shoal::seeder
