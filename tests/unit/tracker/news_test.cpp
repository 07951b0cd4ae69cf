#include "tracker/news.hpp"

#include "tests/unit/tracker/beats.hpp"

#include <gmock/gmock.h>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NewsTest : public ::testing::Test {
protected:
    TimePoint now{1h};
    News news;
};

TEST_F(NewsTest, AHeldReplyGoesOutWhenItsTimeIsOver)
{
    news.hold(peer(1), now + 3s, now);
    EXPECT_EQ(news.next(), now + 3s);
    EXPECT_THAT(news.release(now + 2s), IsEmpty());
    EXPECT_THAT(news.release(now + 3s), ElementsAre(peer(1)));
    EXPECT_EQ(news.waiting(), 0U);
}

TEST_F(NewsTest, WhatHappensTogetherIsToldTogether)
{
    news.hold(peer(1), now + 3s, now);
    news.tell(peer(1), Urgency::urgent, now);
    news.tell(peer(1), Urgency::ordinary, now + 4ms);
    EXPECT_EQ(news.next(), now + News::together);
    EXPECT_THAT(news.release(now + News::together), ElementsAre(peer(1)));
    EXPECT_THAT(news.release(now + 1h), IsEmpty());
}

TEST_F(NewsTest, NewsFromBeforeTheBeatIsToldAtOnce)
{
    news.tell(peer(1), Urgency::ordinary, now);
    news.hold(peer(1), now + 4s, now + 1s);
    EXPECT_LE(*news.next(), now + 1s);
}

TEST_F(NewsTest, AnAnswerIsAllTheNewsThereIs)
{
    news.tell(peer(1), Urgency::urgent, now);
    news.answered(peer(1), now);
    news.hold(peer(1), now + 3s, now);
    EXPECT_EQ(news.next(), now + 3s);
}

TEST_F(NewsTest, C40_OrdinaryNewsIsPacedByHowManyWaitAndUrgentIsNot)
{
    for (std::uint32_t i = 0; i < 1000; ++i) {
        news.answered(peer(i), now);
        news.hold(peer(i), now + 3s, now);
    }
    news.tell(peer(1), Urgency::ordinary, now);
    news.tell(peer(2), Urgency::urgent, now);
    EXPECT_THAT(news.release(now + 10ms), ElementsAre(peer(2)));
    EXPECT_THAT(news.release(now + 250ms), ElementsAre(peer(1)));
    news.tell(peer(1), Urgency::urgent, now + 250ms);  // of it nothing is held
    EXPECT_EQ(news.waiting(), 998U);
}

TEST_F(NewsTest, WhoAdmitsIsToldBeforeWhoStarts)
{
    for (std::uint32_t i = 0; i < 20; ++i) {
        news.hold(peer(i), now + 3s, now);
        news.tell(peer(i), i % 2 == 0 ? Urgency::urgent : Urgency::ordinary, now);
    }
    const auto due = news.release(now + 1s);
    ASSERT_EQ(due.size(), 20U);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(due[i].bytes[0] % 2, 1);
}

TEST_F(NewsTest, LaterNewsDoesNotPutOffWhatCameUpFirst)
{
    news.hold(peer(1), now + 3s, now);
    news.tell(peer(1), Urgency::ordinary, now);
    news.tell(peer(1), Urgency::urgent, now + 4ms);
    EXPECT_EQ(news.next(), now + News::together);
}

TEST_F(NewsTest, UrgentNewsStaysUrgent)
{
    for (std::uint32_t i = 0; i < 1000; ++i) {
        news.answered(peer(i), now);
        news.hold(peer(i), now + 3s, now);
    }
    news.tell(peer(1), Urgency::urgent, now);
    news.tell(peer(1), Urgency::ordinary, now);
    EXPECT_THAT(news.release(now + 10ms), ElementsAre(peer(1)));
}

TEST_F(NewsTest, AReplyIsNeverHeldLongerThanAskedFor)
{
    for (std::uint32_t i = 0; i < 1000; ++i) {
        news.answered(peer(i), now);
        news.hold(peer(i), now + 3s, now);
    }
    news.hold(peer(1), now + 20ms, now);
    news.tell(peer(1), Urgency::ordinary, now);
    EXPECT_THAT(news.release(now + 20ms), ElementsAre(peer(1)));
}

TEST_F(NewsTest, OneReplyOfAProcessIsHeldAtATime)
{
    news.hold(peer(1), now + 1s, now);
    news.hold(peer(1), now + 3s, now);
    EXPECT_EQ(news.waiting(), 1U);
    EXPECT_THAT(news.release(now + 2s), IsEmpty());
    news.answered(peer(1), now + 2s);
    EXPECT_EQ(news.waiting(), 0U);
    news.hold(peer(1), now + 5s, now + 2s);
    EXPECT_THAT(news.release(now + 5s), ElementsAre(peer(1)));
    news.tell(peer(1), Urgency::urgent, now + 5s);
    EXPECT_EQ(news.next(), std::nullopt);  // nothing of it is held
}

TEST_F(NewsTest, WhoIsForgottenIsNotTold)
{
    news.hold(peer(1), now + 3s, now);
    news.tell(peer(1), Urgency::urgent, now);
    news.forget(peer(1));
    EXPECT_EQ(news.next(), std::nullopt);
}

}  // namespace
}  // namespace shoal::tracker
