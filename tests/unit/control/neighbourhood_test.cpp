#include "common/control/neighbourhood.hpp"

#include "common/control/problem.hpp"
#include "common/control/retry.hpp"

#include <gmock/gmock.h>

namespace shoal::control {
namespace {

using namespace std::chrono_literals;

template <typename Id>
Id id(unsigned n)
{
    Id one;
    one.bytes[0] = static_cast<std::uint8_t>(n);
    return one;
}

const RevisionId llama = id<RevisionId>(7);

wire::Neighbour neighbour(unsigned n, bool complete = false)
{
    wire::Neighbour one;
    one.peer = id<PeerId>(n);
    one.complete = complete;
    one.dial = false;
    one.endpoints = {"10.0.0." + std::to_string(n) + ":6881"};
    return one;
}

wire::Reply reply(std::vector<wire::Neighbour> neighbours, std::uint32_t wanting = 0, std::string withdrawn = {})
{
    wire::Reply one;
    one.swarms.push_back({llama, "llama", std::move(neighbours), std::move(withdrawn), wanting, {}});
    return one;
}

TEST(Neighbourhood, C31_LetsStockClientsInOnceATrackerSaysSo)
{
    Neighbourhood all;
    all.heard(id<TrackerId>(1), reply({}));
    EXPECT_FALSE(all.stock_clients());
    wire::Reply allowing = reply({});
    allowing.stock_clients = true;
    all.heard(id<TrackerId>(2), allowing);
    EXPECT_TRUE(all.stock_clients());
}

TEST(Neighbourhood, IsTheUnionOfWhatTrackersSay_EachPeerOnce)
{
    Neighbourhood all;
    EXPECT_EQ(all.wanting(llama), std::nullopt);
    all.heard(id<TrackerId>(1), reply({neighbour(1), neighbour(2)}, 3));
    auto better = neighbour(2, true);
    better.dial = true;
    better.nearness = wire::Nearness::rack;
    better.endpoints = {"[::2]:6881"};
    all.heard(id<TrackerId>(2), reply({better, neighbour(3)}, 1, "flipped"));
    const auto neighbours = all.neighbours(llama);
    ASSERT_EQ(neighbours.size(), 3U);
    EXPECT_TRUE(neighbours[1].complete && neighbours[1].dial);
    EXPECT_EQ(neighbours[1].nearness, wire::Nearness::rack);
    EXPECT_EQ(neighbours[1].endpoints, (std::vector<std::string>{"10.0.0.2:6881", "[::2]:6881"}));
    EXPECT_EQ(all.wanting(llama), 3U);
    EXPECT_EQ(all.withdrawn(llama).value().message, "flipped");
    EXPECT_EQ(all.withdrawn(llama).value().code, Errc::integrity);
}

TEST(Neighbourhood, TakesTheBetterOfWhatTwoTrackersSayOfAPeerWhicheverSpokeFirst)
{
    auto better = neighbour(1, true);
    better.key = id<MemberKey>(9);
    const auto plain = neighbour(1);
    for (const bool better_first : {true, false}) {
        Neighbourhood all;
        all.heard(id<TrackerId>(1), reply({better_first ? better : plain}));
        all.heard(id<TrackerId>(2), reply({better_first ? plain : better}));
        ASSERT_EQ(all.neighbours(llama).size(), 1U);
        const auto merged = all.neighbours(llama)[0];
        EXPECT_TRUE(merged.complete);
        EXPECT_EQ(merged.key, id<MemberKey>(9));
        EXPECT_EQ(merged.endpoints, plain.endpoints);  // each once
    }
}

TEST(Neighbourhood, KeepsEachTrackersLastWordOnly)
{
    Neighbourhood all;
    all.heard(id<TrackerId>(1), reply({neighbour(1)}, 5));
    all.heard(id<TrackerId>(1), reply({neighbour(2)}, 0));
    ASSERT_EQ(all.neighbours(llama).size(), 1U);
    EXPECT_EQ(all.neighbours(llama)[0].peer, id<PeerId>(2));
    EXPECT_EQ(all.wanting(llama), 0U);
    all.heard(id<TrackerId>(1), {});
    EXPECT_TRUE(all.neighbours(llama).empty());
    EXPECT_EQ(all.wanting(llama), std::nullopt);
}

TEST(Neighbourhood, KeepsItsWordWhenATrackerRefusesOrLacksTheBase)
{
    Neighbourhood all;
    all.heard(id<TrackerId>(1), reply({neighbour(1)}));
    wire::Reply empty;
    empty.need_full = true;
    all.heard(id<TrackerId>(1), empty);
    empty.need_full = false;
    empty.refusal = "twice";
    all.heard(id<TrackerId>(1), empty);
    EXPECT_EQ(all.neighbours(llama).size(), 1U);
}

TEST(Neighbourhood, ForgetsATrackerThatIsSilentWhileAnotherSpeaks)
{
    Neighbourhood all;
    all.heard(id<TrackerId>(1), reply({neighbour(1)}));
    for (int i = 0; i < 20; ++i) all.heard(id<TrackerId>(2), reply({neighbour(2)}));
    EXPECT_EQ(all.neighbours(llama).size(), 2U);
    for (int i = 0; i < 40; ++i) all.heard(id<TrackerId>(2), reply({neighbour(2)}));
    EXPECT_EQ(all.neighbours(llama).size(), 1U);
}

TEST(Neighbourhood, DoesNotBelieveAYoungTrackerThatNobodyWantsIt)
{
    Neighbourhood all;
    auto young = reply({neighbour(1)}, 0);
    young.young = true;
    all.heard(id<TrackerId>(1), young);
    EXPECT_EQ(all.wanting(llama), std::nullopt);
    young.swarms[0].wanting = 2;
    all.heard(id<TrackerId>(1), young);
    EXPECT_EQ(all.wanting(llama), 2U);
}

TEST(Retry, WaitsFromHalfASecondToTheLongest_AndNeverTwoAlike)
{
    Random random{1};
    for (unsigned failures = 1; failures < 100; ++failures) {
        const Duration wait = retry_delay(failures, 10s, random);
        EXPECT_GE(wait, 400ms);
        EXPECT_LE(wait, 10s);
        EXPECT_TRUE(failures > 1 || wait <= 600ms);
        EXPECT_TRUE(failures < 10 || wait >= 8s);
    }
    EXPECT_NE(retry_delay(3, 10s, random), retry_delay(3, 10s, random));
    EXPECT_LE(retry_delay(9, 1s, random), 1s);
}

TEST(Problem, GivesItsDetailElseItsTitle)
{
    EXPECT_EQ(
        problem_detail(R"({"title":"Not Found","status":404,"detail":"model \"llama\" has no tag \u0022prod\u0022"})"), R"(model "llama" has no tag "prod")");
    EXPECT_EQ(problem_detail(R"({ "title" : "Not Found" })"), "Not Found");
    EXPECT_EQ(problem_detail("{\"detail\":\"a\\nb\\u000ac\"}"), "a b c");
    for (const char* none :
        {"", "{}", "<html>detail</html>", "{\"detail\":7}", "{\"detail\":\"cut", "{\"detail\":\"\\", "{\"detail\":\"\\u12", "{\"detail\":\"\\q\"}"})
        EXPECT_EQ(problem_detail(none), std::nullopt) << none;
    EXPECT_LE(problem_detail("{\"detail\":\"" + std::string(5000, 'x') + "\"}").value_or("").size(), 1000U);
}

}  // namespace
}  // namespace shoal::control
