// The small decisions of a fetch: claims, stalls, lingering, page cache, space.
#include "peer/claim_policy.hpp"
#include "peer/linger.hpp"
#include "peer/page_cache.hpp"
#include "peer/staging.hpp"
#include "peer/stall_watch.hpp"

#include <gtest/gtest.h>

namespace shoal::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint start{seconds{1000}};

TEST(ClaimPolicy, C44_AClaimThatCountsOnIsWaitedFor)
{
    ClaimWatch watch;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(watch.judge("a", std::to_string(i), Liveness::unknown, start + seconds{i * 9}), ClaimVerdict::wait);
}

TEST(ClaimPolicy, C44_AClaimThatStandsStillIsTakenOverAfterTenSecondsOfTheWaitersOwnClock)
{
    ClaimWatch watch;
    EXPECT_EQ(watch.judge("a", "1", Liveness::unknown, start), ClaimVerdict::wait);
    EXPECT_EQ(watch.judge("a", "1", Liveness::unknown, start + milliseconds{9999}), ClaimVerdict::wait);
    EXPECT_EQ(watch.judge("a", "1", Liveness::unknown, start + seconds{10}), ClaimVerdict::take_stale);
}

TEST(ClaimPolicy, C44_AnotherOwnerWithTheSameContentStartsTheTimeAnew)
{
    ClaimWatch watch;
    EXPECT_EQ(watch.judge("a", "1", Liveness::unknown, start), ClaimVerdict::wait);
    EXPECT_EQ(watch.judge("b", "1", Liveness::unknown, start + seconds{9}), ClaimVerdict::wait);
    EXPECT_EQ(watch.judge("b", "1", Liveness::unknown, start + seconds{18}), ClaimVerdict::wait);
}

TEST(ClaimPolicy, C44_AnOwnerThatIsProvablyDeadIsTakenOverAtOnce)
{
    ClaimWatch watch;
    EXPECT_EQ(watch.judge("a", "1", Liveness::gone, start), ClaimVerdict::take_dead);
}

TEST(ClaimPolicy, OnlyTheSameBootAndPidNamespaceCanTellThatAProcessIsGone)
{
    const ProcessIdentity owner{"boot", 7, 100, 55};
    EXPECT_EQ(liveness_of(owner, {"boot", 7, 200, 66}, false, 0), Liveness::gone);
    EXPECT_EQ(liveness_of(owner, {"boot", 7, 200, 66}, true, 56), Liveness::gone);  // the pid has another owner now
    EXPECT_EQ(liveness_of(owner, {"boot", 7, 200, 66}, true, 55), Liveness::alive);
    EXPECT_EQ(liveness_of(owner, {"boot", 7, 200, 66}, true, 0), Liveness::alive);
    EXPECT_EQ(liveness_of(owner, {"other", 7, 200, 66}, false, 0), Liveness::unknown);
    EXPECT_EQ(liveness_of(owner, {"boot", 8, 200, 66}, false, 0), Liveness::unknown);
    EXPECT_EQ(liveness_of({"boot", 0, 100, 55}, {"boot", 0, 200, 66}, false, 0), Liveness::unknown);  // neither could tell its namespace
    EXPECT_EQ(liveness_of({}, {}, false, 0), Liveness::unknown);
}

TEST(StallWatch, VerifiedBytesAreProgress)
{
    StallWatch watch{start};
    watch.saw(0, 0, start + seconds{5});
    EXPECT_EQ(watch.idle(start + seconds{5}), seconds{5});
    watch.saw(1, 0, start + seconds{6});
    EXPECT_EQ(watch.idle(start + seconds{8}), seconds{2});
}

TEST(StallWatch, ReceivedBytesAreProgressUntilTheyShouldHaveMadeAPiece)
{
    StallWatch watch{start};
    watch.saw(0, 100U << 20U, start + seconds{10});
    EXPECT_EQ(watch.idle(start + seconds{10}), seconds{0});
    watch.saw(0, 300U << 20U, start + seconds{20});  // nothing but wrong bytes
    EXPECT_EQ(watch.idle(start + seconds{20}), seconds{10});
    watch.saw(1U << 20U, 301U << 20U, start + seconds{30});
    EXPECT_EQ(watch.idle(start + seconds{30}), seconds{0});
}

TEST(StallWatch, BytesThatWereThereAtTheStartAreNotProgressTwice)
{
    StallWatch watch{start};
    watch.saw(500, 0, start);
    watch.saw(500, 0, start + seconds{60});
    EXPECT_EQ(watch.idle(start + seconds{60}), seconds{60});
}

TEST(Linger, LeavesAtOnceWhenNobodyNeedsUs)
{
    EXPECT_TRUE(may_leave({}, {seconds{0}, 0, 5U}));
    EXPECT_TRUE(may_leave({}, {seconds{0}, 2, 0U}));
}

TEST(Linger, StaysForThoseWhoNeedUsFiveSecondsAtMost)
{
    EXPECT_FALSE(may_leave({}, {milliseconds{4999}, 1, 3U}));
    EXPECT_FALSE(may_leave({}, {milliseconds{4999}, 1, std::nullopt}));
    EXPECT_TRUE(may_leave({}, {seconds{5}, 1, 3U}));
}

TEST(Linger, AGivenTimeIsKeptWhateverOthersNeed)
{
    EXPECT_TRUE(may_leave(Duration{0}, {seconds{0}, 1, 3U}));
    EXPECT_FALSE(may_leave(Duration{seconds{60}}, {seconds{59}, 0, 0U}));
    EXPECT_TRUE(may_leave(Duration{seconds{60}}, {seconds{60}, 1, 1U}));
}

TEST(PageCache, C49_DropsWhatWouldNotFitIntoHalfOfTheMemoryOrOfTheLimit)
{
    constexpr std::uint64_t gib = 1U << 30U;
    EXPECT_FALSE(should_drop(PageCache::automatic, gib, {8 * gib, {}}));
    EXPECT_TRUE(should_drop(PageCache::automatic, 5 * gib, {8 * gib, {}}));
    EXPECT_TRUE(should_drop(PageCache::automatic, gib, {8 * gib, gib / 4}));
    EXPECT_TRUE(should_drop(PageCache::drop, 1, {8 * gib, {}}));
    EXPECT_FALSE(should_drop(PageCache::keep, 80 * gib, {8 * gib, gib / 4}));
}

TEST(Space, C47_TellsTheNumbersWhenItDoesNotSuffice)
{
    const FreeSpace there{{1'000'000, 100}, {5000, 10}};
    EXPECT_TRUE(check_space({5000, 10}, there, "/x"));
    const auto bytes = check_space({5001, 1}, there, "/x");
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, Errc::no_space);
    EXPECT_NE(bytes.error().message.find("/x: expected 5001 bytes"), std::string::npos) << bytes.error().message;
    EXPECT_EQ(check_space({1, 11}, there, "/x").error().code, Errc::no_space);
}

TEST(Space, AFilesystemThatReportsNoInodesOrBlocksHasNoSuchLimit)
{
    EXPECT_TRUE(check_space({5000, 1000}, {{0, 0}, {0, 0}}, "/x"));
}

}  // namespace
}  // namespace shoal::peer
