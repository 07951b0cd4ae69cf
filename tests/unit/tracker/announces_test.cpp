#include "tracker/announces.hpp"

#include "tests/unit/tracker/beats.hpp"

#include <gmock/gmock.h>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Stranger client(std::uint32_t number, bool complete = false)
{
    return {peer(number), "10.0.0." + std::to_string(number % 250) + ":5000", complete};
}

class AnnouncesTest : public ::testing::Test {
protected:
    TimePoint now{1h};
    Announces announces;
};

TEST_F(AnnouncesTest, AClientIsInItsSwarmOnceAndAsItLastSaid)
{
    EXPECT_TRUE(announces.announce(revision(1), client(1), now));
    EXPECT_TRUE(announces.announce(revision(1), client(1, true), now));
    EXPECT_THAT(announces.of(revision(1)), ElementsAre(client(1, true)));
    EXPECT_THAT(announces.of(revision(2)), IsEmpty());
}

TEST_F(AnnouncesTest, WhoAnnouncesNoMoreIsGone)
{
    announces.announce(revision(1), client(1), now);
    announces.announce(revision(2), client(2), now);
    now += 2 * Announces::interval;
    EXPECT_THAT(announces.expire(now), IsEmpty());
    now += 1h;
    announces.announce(revision(2), client(2), now);
    EXPECT_THAT(announces.expire(now), ElementsAre(revision(1)));
    EXPECT_THAT(announces.of(revision(1)), IsEmpty());
    EXPECT_THAT(announces.of(revision(2)), ElementsAre(client(2)));
}

TEST_F(AnnouncesTest, WhoStopsIsGoneAtOnce)
{
    announces.announce(revision(1), client(1), now);
    announces.announce(revision(1), client(2), now);
    announces.stop(revision(1), peer(1));
    announces.stop(revision(1), peer(3));
    announces.stop(revision(9), peer(1));
    EXPECT_THAT(announces.of(revision(1)), ElementsAre(client(2)));
    EXPECT_THAT(announces.expire(now), IsEmpty());
}

TEST_F(AnnouncesTest, ASwarmHasABoundAndWhoIsInItMayGoOnAnnouncing)
{
    for (std::uint32_t i = 0; i < Announces::per_swarm; ++i) EXPECT_TRUE(announces.announce(revision(1), client(i), now));
    EXPECT_FALSE(announces.announce(revision(1), client(1000), now));
    EXPECT_TRUE(announces.announce(revision(1), client(7, true), now));
    EXPECT_TRUE(announces.announce(revision(2), client(1000), now));
    EXPECT_THAT(announces.of(revision(1)), SizeIs(Announces::per_swarm));
    announces.stop(revision(1), peer(0));
    EXPECT_TRUE(announces.announce(revision(1), client(1000), now));
}

TEST_F(AnnouncesTest, AllSwarmsTogetherHaveABoundThatStopsAndExpiryGiveBack)
{
    const auto per_swarm = static_cast<std::uint32_t>(Announces::per_swarm);
    for (std::uint32_t i = 0; i < Announces::in_all; ++i) ASSERT_TRUE(announces.announce(revision(i / per_swarm), client(i), now));
    EXPECT_FALSE(announces.announce(revision(900), client(50'000), now));
    EXPECT_TRUE(announces.announce(revision(0), client(0), now + 1h));  // one that is there
    announces.stop(revision(1), peer(per_swarm));
    EXPECT_TRUE(announces.announce(revision(900), client(50'000), now + 1h));
    EXPECT_FALSE(announces.announce(revision(900), client(50'001), now + 1h));
    now += 2h;
    EXPECT_THAT(announces.expire(now), SizeIs(Announces::in_all / per_swarm + 1));
    for (std::uint32_t i = 0; i < Announces::in_all; ++i) ASSERT_TRUE(announces.announce(revision(1000 + i / per_swarm), client(i + 1), now)) << i;
    EXPECT_FALSE(announces.announce(revision(900), client(50'001), now));
}

TEST_F(AnnouncesTest, ASwarmIsFoundByTheFirstTwentyBytesOfItsInfoHash)
{
    InfoHash hash;
    for (std::size_t i = 0; i < hash.bytes.size(); ++i) hash.bytes[i] = static_cast<std::uint8_t>(i);
    announces.know(hash, revision(1));
    ShortInfoHash first{};
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::uint8_t>(i);
    EXPECT_EQ(announces.find(first), revision(1));
    first[19] = 0;
    EXPECT_EQ(announces.find(first), std::nullopt);
}

// BEP 3, 7 and 23, byte by byte; keys in order.
TEST(AnnounceAnswer, GivesEndpointsCompactAndEachFamilyInItsOwnList)
{
    const std::string answer = announce_answer({3, 14}, 30s, {"10.1.2.3:6881", "[fd00::1]:256", "192.168.0.255:65535"});
    EXPECT_EQ(answer, "d8:completei3e10:incompletei14e8:intervali30e12:min intervali1e"
                      "5:peers12:\x0a\x01\x02\x03\x1a\xe1\xc0\xa8\x00\xff\xff\xff"
                      "6:peers618:\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00"
                      "e"s);
}

TEST(AnnounceAnswer, WithoutEndpointsItsListsAreEmpty)
{
    EXPECT_EQ(announce_answer({}, 5s, {}), "d8:completei0e10:incompletei0e8:intervali5e12:min intervali1e5:peers0:6:peers60:e");
}

TEST(AnnounceAnswer, WhatIsNoEndpointIsLeftOut)
{
    for (const char* none : {"", ":", "host:1", "10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:1x", "fd00::1:6881", "[fd00::1]",
             "[fd00::1:1", "[10.0.0.1:1", "[10.0.0.1]:1"})
        EXPECT_EQ(announce_answer({}, 5s, {none}), announce_answer({}, 5s, {})) << none;
}

TEST(ScrapeAnswer, NamesEachSwarmByItsRawBytesInOrder)
{
    ShortInfoHash one{}, two{};
    one.fill(0x80);
    two.fill('a');
    EXPECT_EQ(scrape_answer({{one, {1, 2}}, {two, {0, 0}}}), "d5:filesd20:aaaaaaaaaaaaaaaaaaaad8:completei0e10:downloadedi0e10:incompletei0ee20:" +
                                                                 std::string(20, '\x80') + "d8:completei1e10:downloadedi0e10:incompletei2eeee");
    EXPECT_EQ(scrape_answer({}), "d5:filesdee");
}

TEST(FailureAnswer, SaysWhy)
{
    EXPECT_EQ(failure_answer("no"), "d14:failure reason2:noe");
    EXPECT_EQ(failure_answer(""), "d14:failure reason0:e");
}

}  // namespace
}  // namespace shoal::tracker
