#include "common/swarm/roster.hpp"

#include <gtest/gtest.h>

namespace shoal::swarm {
namespace {

using namespace std::chrono_literals;

template <typename Id>
Id id(unsigned n)
{
    Id one;
    one.bytes[0] = static_cast<std::uint8_t>(n);
    return one;
}

Member member(unsigned n)
{
    return {id<PeerId>(n), id<MemberKey>(100 + n), false, true, {}};
}

Shown shows(unsigned n, std::optional<MemberKey> key = std::nullopt)
{
    return {id<PeerId>(n), key, Kind::peer};
}

class SwarmRoster : public testing::Test {
protected:
    SwarmRoster() { roster.assign({member(1), member(2)}); }
    [[nodiscard]] Verdict judge(const Shown& shown, Direction direction = Direction::accepted) const { return roster.judge(shown, direction, now); }

    Roster roster;
    TimePoint now{1h};
};

TEST_F(SwarmRoster, WhoIsAcceptedMustShowTheKeyThatBelongsToItsId)
{
    EXPECT_EQ(judge(shows(1, id<MemberKey>(101))), Verdict::admitted);
    EXPECT_EQ(judge(shows(1, id<MemberKey>(102))), Verdict::unknown);  // another member's
    EXPECT_EQ(judge(shows(1)), Verdict::unknown);
    EXPECT_EQ(judge(shows(3, id<MemberKey>(101))), Verdict::unknown);  // nobody a tracker told of
}

TEST_F(SwarmRoster, WhoIsDialledMustBeWhoWasNamedAndMayShowNoWrongKey)
{
    EXPECT_EQ(judge(shows(1), Direction::dialled), Verdict::admitted);
    EXPECT_EQ(judge(shows(1, id<MemberKey>(101)), Direction::dialled), Verdict::admitted);
    EXPECT_EQ(judge(shows(1, id<MemberKey>(102)), Direction::dialled), Verdict::unknown);
    EXPECT_EQ(judge(shows(3), Direction::dialled), Verdict::unknown);
}

TEST_F(SwarmRoster, AMemberWithoutAKeyIsPassedForByNobody)
{
    Member keyless = member(1);
    keyless.key = {};
    roster.assign({keyless});
    EXPECT_EQ(judge(shows(1, MemberKey{})), Verdict::unknown);
    EXPECT_EQ(judge(shows(1, MemberKey{}), Direction::dialled), Verdict::unknown);
    EXPECT_EQ(judge(shows(1), Direction::dialled), Verdict::admitted);
}

TEST_F(SwarmRoster, OnlyTheLastListCounts)
{
    roster.assign({member(2), member(3)});
    EXPECT_EQ(roster.find(id<PeerId>(1)), nullptr);
    EXPECT_EQ(judge(shows(1, id<MemberKey>(101))), Verdict::unknown);
    ASSERT_NE(roster.find(id<PeerId>(3)), nullptr);
    EXPECT_EQ(roster.find(id<PeerId>(3))->key, id<MemberKey>(103));
    EXPECT_EQ(judge(shows(3, id<MemberKey>(103))), Verdict::admitted);
    roster.assign({});
    EXPECT_EQ(roster.find(id<PeerId>(2)), nullptr);
}

TEST_F(SwarmRoster, ABanStandsWhateverATrackerSaysAndKeyIsShown)
{
    roster.ban(id<PeerId>(1));
    roster.assign({member(1), member(2)});
    EXPECT_EQ(judge(shows(1, id<MemberKey>(101))), Verdict::refused);
    EXPECT_EQ(judge(shows(1), Direction::dialled), Verdict::refused);
    EXPECT_EQ(judge(shows(2, id<MemberKey>(102))), Verdict::admitted);
}

TEST_F(SwarmRoster, ASilentNeighbourIsLeftAloneForAWhileAndLongerEachTime)
{
    for (const Duration alone : std::initializer_list<Duration>{10s, 20s, 40s, 60s, 60s}) {
        roster.was_silent(id<PeerId>(1), now);
        EXPECT_EQ(judge(shows(1, id<MemberKey>(101))), Verdict::refused);
        EXPECT_FALSE(roster.left_alone(id<PeerId>(2), now));
        now += alone - 1ms;
        EXPECT_TRUE(roster.left_alone(id<PeerId>(1), now));
        now += 1ms;
        EXPECT_EQ(judge(shows(1, id<MemberKey>(101))), Verdict::admitted);
    }
}

}  // namespace
}  // namespace shoal::swarm
