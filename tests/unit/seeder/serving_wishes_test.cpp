#include "seeder/wishes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal::seeder {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using Kind = ServeAction::Kind;

RevisionId revision(std::uint8_t number)
{
    return RevisionId{{number}};
}
const RevisionId a = revision(1);
const RevisionId b = revision(2);
const RevisionId c = revision(3);

// A seeder's wishes with a clock of their own.
class ServingWishes : public testing::Test {
protected:
    void wish(const RevisionId& id) { wishes.wished(id, "llama", now); }
    std::vector<ServeAction> next() { return wishes.next(now); }
    void serve(const RevisionId& id)
    {
        wish(id);
        next();
        wishes.loaded(id);
    }
    // Time goes by while somebody goes on wanting `id`; what there was to do.
    std::vector<ServeAction> wait(Duration duration, const RevisionId& id)
    {
        std::vector<ServeAction> actions;
        for (const TimePoint end = now + duration; now < end;) {
            now += seconds{1};
            wish(id);
            for (const ServeAction& action : next()) actions.push_back(action);
        }
        return actions;
    }
    [[nodiscard]] const Served& of(const RevisionId& id) const { return wishes.all().at(id); }

    TimePoint now{std::chrono::hours{1}};
    ServeLimits limits;
    Wishes wishes;
};

TEST_F(ServingWishes, LoadsAtOnceWhatIsWishedAndOnlyOnce)
{
    wish(a);
    EXPECT_THAT(next(), ElementsAre(ServeAction{Kind::load, a}));
    wish(a);
    EXPECT_THAT(next(), IsEmpty());
    wishes.loaded(a);
    EXPECT_THAT(wait(minutes{20}, a), IsEmpty());
    EXPECT_EQ(of(a).state, ServeState::serving);
}

TEST_F(ServingWishes, DropsWhatNobodyWantsForTenMinutes)
{
    serve(a);
    now += minutes{10} - seconds{1};
    EXPECT_THAT(next(), IsEmpty());
    now += seconds{1};
    EXPECT_THAT(next(), ElementsAre(ServeAction{Kind::drop, a}));
    EXPECT_THAT(wishes.all(), IsEmpty());
    wish(a);
    EXPECT_THAT(next(), ElementsAre(ServeAction{Kind::load, a}));
}

TEST_F(ServingWishes, WhatIsGoneIsToldApartFromWhatIsWrong)
{
    serve(a);
    EXPECT_EQ(wishes.storage_failed(a, {Errc::not_found, "blob gone", {}}, now), Wishes::Verdict::withdraw);
    EXPECT_TRUE(of(a).missing && of(a).refused);
    serve(b);
    EXPECT_EQ(wishes.storage_failed(b, {Errc::integrity, "blob wrong", {}}, now), Wishes::Verdict::withdraw);
    EXPECT_TRUE(!of(b).missing && of(b).refused);
}

TEST_F(ServingWishes, WrongBytesWithdrawARevisionUntilTheyAreRight)
{
    serve(a);
    EXPECT_EQ(wishes.storage_failed(a, {Errc::integrity, "piece 0 differs", {}}, now), Wishes::Verdict::withdraw);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_THAT(of(a).trouble, HasSubstr("piece 0"));

    EXPECT_THAT(wait(seconds{10}, a), ElementsAre(ServeAction{Kind::load, a}));  // a look at what was wrong
    EXPECT_TRUE(of(a).refused);
    wishes.load_failed(a, {Errc::integrity, "piece 0 differs still", {}}, now);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_THAT(of(a).trouble, HasSubstr("piece 0"));

    EXPECT_THAT(wait(seconds{10}, a), ElementsAre(ServeAction{Kind::load, a}));
    wishes.loaded(a);
    EXPECT_EQ(of(a).state, ServeState::serving);
    EXPECT_FALSE(of(a).refused);
    EXPECT_EQ(of(a).trouble, "");
}

TEST_F(ServingWishes, RemembersWrongBytesHoweverLongNobodyAsks)
{
    serve(a);
    ASSERT_EQ(wishes.storage_failed(a, {Errc::changed, "another version", {}}, now), Wishes::Verdict::withdraw);
    now += minutes{60};
    EXPECT_THAT(next(), IsEmpty());
    wish(a);
    EXPECT_THAT(next(), ElementsAre(ServeAction{Kind::load, a}));
    EXPECT_TRUE(of(a).spoiled);
}

TEST_F(ServingWishes, AFailedLookAtAWithdrawnRevisionKeepsItsReason)
{
    serve(a);
    ASSERT_EQ(wishes.storage_failed(a, {Errc::integrity, "piece 0 differs", {}}, now), Wishes::Verdict::withdraw);
    ASSERT_THAT(wait(seconds{10}, a), SizeIs(1));
    wishes.load_failed(a, {Errc::io, "no answer", {}}, now);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_THAT(of(a).trouble, HasSubstr("piece 0"));
}

TEST_F(ServingWishes, WhatTheStoreLacksIsWithdrawnAndLookedForAgain)
{
    wish(a);
    next();
    wishes.load_failed(a, {Errc::not_found, "revision not found", {}}, now);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_THAT(wait(seconds{9}, a), IsEmpty());
    EXPECT_THAT(wait(seconds{1}, a), ElementsAre(ServeAction{Kind::load, a}));
    wishes.loaded(a);
    EXPECT_EQ(of(a).state, ServeState::serving);
}

TEST_F(ServingWishes, WhatIsServedAndThenRemovedIsWithdrawnUntilItIsThereAgain)
{
    serve(a);
    wishes.load_failed(a, {Errc::not_found, "removed", {}}, now);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_TRUE(of(a).refused);
    EXPECT_EQ(of(a).trouble, "removed");
    EXPECT_THAT(wait(seconds{10}, a), ElementsAre(ServeAction{Kind::load, a}));
    wishes.loaded(a);
    EXPECT_EQ(of(a).state, ServeState::serving);
}

TEST_F(ServingWishes, WhatTheStoreLacksIsForgottenWhenNobodyAsks)
{
    wish(a);
    next();
    wishes.load_failed(a, {Errc::not_found, "revision not found", {}}, now);
    now += minutes{10};
    EXPECT_THAT(next(), IsEmpty());
    EXPECT_THAT(wishes.all(), IsEmpty());
}

TEST_F(ServingWishes, ADamagedRecordIsReadAgainOnceAMinute)
{
    wish(a);
    next();
    wishes.load_failed(a, {Errc::integrity, "layers are damaged", {}}, now);
    EXPECT_EQ(of(a).state, ServeState::withdrawn);
    EXPECT_THAT(wait(seconds{59}, a), IsEmpty());
    EXPECT_THAT(wait(seconds{1}, a), SizeIs(1));
}

TEST_F(ServingWishes, ATroubledStoreIsAskedAgainLessAndLessOften)
{
    wish(a);
    next();
    std::vector<std::int64_t> waited;
    for (int i = 0; i < 8; ++i) {
        wishes.load_failed(a, {Errc::io, "EIO", {}}, now);
        EXPECT_EQ(of(a).state, ServeState::waiting);
        const TimePoint before = now;
        while (wait(seconds{1}, a).empty()) {
        }
        waited.push_back(std::chrono::duration_cast<seconds>(now - before).count());
    }
    EXPECT_THAT(waited, ElementsAre(1, 2, 4, 8, 16, 32, 60, 60));
}

TEST_F(ServingWishes, ATroubledReadPausesAndResumes)
{
    serve(a);
    serve(b);
    EXPECT_EQ(wishes.storage_failed(a, {Errc::io, "EIO", "look at the disk"}, now), Wishes::Verdict::pause);
    EXPECT_EQ(wishes.storage_failed(a, {Errc::timed_out, "slow", {}}, now), Wishes::Verdict::pause);  // another piece, at the same time
    EXPECT_EQ(of(a).state, ServeState::paused);
    EXPECT_EQ(of(b).state, ServeState::serving);
    EXPECT_THAT(wait(seconds{1}, a), ElementsAre(ServeAction{Kind::resume, a}));
    EXPECT_NE(of(a).trouble, "");  // not yet sure

    EXPECT_EQ(wishes.storage_failed(a, {Errc::io, "EIO", {}}, now), Wishes::Verdict::pause);
    EXPECT_THAT(wait(seconds{1}, a), IsEmpty());
    EXPECT_THAT(wait(seconds{1}, a), ElementsAre(ServeAction{Kind::resume, a}));
    EXPECT_THAT(wait(seconds{30}, a), IsEmpty());
    EXPECT_EQ(of(a).trouble, "");
    EXPECT_EQ(wishes.storage_failed(a, {Errc::io, "EIO", {}}, now), Wishes::Verdict::pause);
    EXPECT_THAT(wait(seconds{1}, a), SizeIs(1));  // counts from the first again
}

TEST_F(ServingWishes, WrongBytesOfAPausedRevisionWithdrawIt)
{
    serve(a);
    ASSERT_EQ(wishes.storage_failed(a, {Errc::io, "EIO", {}}, now), Wishes::Verdict::pause);
    EXPECT_EQ(wishes.storage_failed(a, {Errc::integrity, "differs", {}}, now), Wishes::Verdict::withdraw);
    EXPECT_THAT(wait(seconds{9}, a), IsEmpty());
}

TEST_F(ServingWishes, LoadsSoManyAtOnceAndTheRestAfterThem)
{
    wishes = Wishes{{.loads = 2}};
    for (std::uint8_t i = 1; i <= 3; ++i) wish(revision(i));
    EXPECT_THAT(next(), SizeIs(2));
    wishes.loaded(a);
    EXPECT_THAT(next(), ElementsAre(ServeAction{Kind::load, c}));
}

TEST_F(ServingWishes, MakesRoomByWhatWasUnwantedTheLongest)
{
    wishes = Wishes{{.served = 2}};
    serve(a);
    now += seconds{10};
    serve(b);
    now += seconds{60};
    wish(c);
    EXPECT_THAT(next(), UnorderedElementsAre(ServeAction{Kind::drop, a}, ServeAction{Kind::load, c}));
}

TEST_F(ServingWishes, NeverDropsWhatIsWantedForAnother)
{
    wishes = Wishes{{.served = 1}};
    serve(a);
    wish(b);
    wish(a);
    EXPECT_THAT(next(), IsEmpty());
    EXPECT_THAT(of(b).trouble, HasSubstr("1"));
    now += seconds{30};
    wish(b);
    EXPECT_THAT(next(), UnorderedElementsAre(ServeAction{Kind::drop, a}, ServeAction{Kind::load, b}));
}

TEST_F(ServingWishes, KnowsABoundedNumberAndForgetsTheOldestOfThem)
{
    wishes = Wishes{{.known = 2, .loads = 1}};
    serve(a);
    wish(b);
    next();
    wishes.load_failed(b, {Errc::not_found, "none", {}}, now);
    wish(c);
    EXPECT_THAT(wishes.all(), UnorderedElementsAre(testing::Key(a), testing::Key(b)));  // all are wanted
    now += seconds{30};
    wish(c);
    EXPECT_THAT(wishes.all(), UnorderedElementsAre(testing::Key(a), testing::Key(c)));
}

TEST_F(ServingWishes, ForgetsWrongBytesOnlyWhereItKnowsNothingElse)
{
    wishes = Wishes{{.known = 2}};
    serve(a);
    ASSERT_EQ(wishes.storage_failed(a, {Errc::integrity, "piece 0 differs", {}}, now), Wishes::Verdict::withdraw);
    now += seconds{30};
    wish(b);
    next();
    wishes.load_failed(b, {Errc::not_found, "none", {}}, now);
    now += seconds{30};
    wish(c);
    EXPECT_THAT(wishes.all(), UnorderedElementsAre(testing::Key(a), testing::Key(c)));
    next();
    wishes.loaded(c);
    wish(b);
    EXPECT_THAT(wishes.all(), UnorderedElementsAre(testing::Key(b), testing::Key(c)));  // bounded all the same
}

TEST_F(ServingWishes, DoesNotReadWhatIsNotWantedAnyMore)
{
    wish(a);
    next();
    wishes.load_failed(a, {Errc::io, "EIO", {}}, now);
    now += seconds{45};
    EXPECT_THAT(next(), IsEmpty());
}

}  // namespace
}  // namespace shoal::seeder
