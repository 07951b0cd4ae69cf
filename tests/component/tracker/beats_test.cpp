#include "tests/component/tracker/fixture.hpp"

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using wire::HoldState;

class Beating : public TrackerTest {
protected:
    Beating() { start(); }
};

TEST_F(Beating, AWishReachesTheSeederAndTheSeederTheFetchLongBeforeTheNextBeat)
{
    const auto seeder = seeder_beat(900);
    beat(seeder);
    const auto seeder_waits = hold(delta_of(seeder));
    const auto fetch = beat_of(1, {holding(1, HoldState::wanted)});
    beat(fetch);
    const auto fetch_waits = hold(delta_of(fetch));
    ASSERT_TRUE(wait(seeder_waits));
    EXPECT_THAT(seeder_waits->reply().wishes, ElementsAre(wire::Wish{revision(1), "llama"}));
    EXPECT_FALSE(fetch_waits->answer.has_value());

    const auto began = Clock::now();
    const auto serving = hold(delta_of(delta_of(seeder), {holding(1, HoldState::held)}));
    ASSERT_TRUE(wait(fetch_waits));
    ASSERT_TRUE(wait(serving));
    EXPECT_LT(Clock::now() - began, 2s);
    const auto reply = fetch_waits->reply();
    ASSERT_THAT(reply.swarms.at(0).neighbours, SizeIs(1));
    EXPECT_EQ(reply.swarms[0].neighbours[0].peer, peer(900));
    EXPECT_EQ(serving->reply().swarms.at(0).neighbours.at(0).key, fetch.key);
    EXPECT_EQ(reply.zone, "zone-a");
}

TEST_F(Beating, ANewerBeatOfTheSamePeerReleasesTheOlder)
{
    const auto first = beat_of(1);
    beat(first);
    const auto older = hold(delta_of(first));
    settle();
    const auto newer = hold(delta_of(delta_of(first)));
    ASSERT_TRUE(wait(older));
    EXPECT_EQ(older->answer->value().status, 200);
    EXPECT_FALSE(newer->answer.has_value());
}

TEST_F(Beating, ABeatThatIsAnsweredAtOnceEndsTheOlderOneAndLeavesNobodyWaiting)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    beat(first);
    const auto older = hold(delta_of(first));
    settle();
    EXPECT_THAT(beat(delta_of(delta_of(first))).swarms, SizeIs(1));
    ASSERT_TRUE(wait(older));
    EXPECT_THAT(older->reply().swarms, SizeIs(1));
    jump(8s);
    EXPECT_THAT(get_json("/api/v1/nodes")["nodes"], IsEmpty());
}

TEST_F(Beating, AHeldReplyEndsAfterOneBeatAtMost)
{
    const auto first = beat_of(1);
    beat(first);
    auto patient = delta_of(first);
    patient.wait_ms = 3'600'000;
    const auto waits = send("POST", "/control/v1/beat", wire::encode(patient));
    settle();
    jump(2s);
    settle();
    EXPECT_FALSE(waits->answer.has_value());
    jump(1100ms);
    ASSERT_TRUE(wait(waits));
}

TEST_F(Beating, WhatIsNoBeatIsABadRequestAndHurtsNobody)
{
    const std::string whole = wire::encode(beat_of(1, {holding(1, HoldState::held)}));
    std::string garbled = whole;
    for (char& byte : garbled) byte = static_cast<char>(byte ^ 0x5a);
    for (const std::string& garbage :
        {std::string{"\xc1"}, std::string(1000, '\xff'), garbled, whole.substr(0, whole.size() / 2), whole + "x", std::string{}}) {
        const auto asked = send("POST", "/control/v1/beat", garbage);
        ASSERT_TRUE(wait(asked));
        EXPECT_EQ(asked->answer->value().status, 400);
        EXPECT_EQ(asked->answer->value().headers.at("content-type"), "application/problem+json");
    }
    EXPECT_EQ(beat(beat_of(1)).refusal, "");
}

TEST_F(Beating, TooManyBytesAreTooLarge)
{
    const auto asked = send("POST", "/control/v1/beat", std::string(wire::max_beat_bytes + 1, 'x'));
    ASSERT_TRUE(wait(asked));
    EXPECT_EQ(asked->answer->value().status, 413);
}

TEST_F(Beating, C39_NeighbouringVersionsAreUnderstoodAndOthersRefusedWithBothVersionsNamed)
{
    auto sent = beat_of(1);
    for (const std::uint32_t version : {wire::protocol_version - 1, wire::protocol_version, wire::protocol_version + 1}) {
        sent.version = version;
        EXPECT_EQ(beat(sent).refusal, "");
    }
    sent.version = wire::protocol_version + 2;
    const auto reply = beat(sent);
    EXPECT_THAT(reply.refusal, HasSubstr("version " + std::to_string(sent.version)));
    EXPECT_THAT(reply.refusal, HasSubstr("speaks version " + std::to_string(wire::protocol_version)));
}

TEST_F(Beating, AModelsNameThatCannotBeIsRefused)
{
    auto bad = holding(1, HoldState::held);
    bad.model = "<img src=x onerror=alert(1)>";
    EXPECT_NE(beat(beat_of(1, {bad})).refusal, "");
    EXPECT_THAT(get_json("/api/v1/nodes")["nodes"], IsEmpty());
}

TEST_F(Beating, C35_ARestartedTrackerAsksForAFullReportAndIsYoung)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    const auto before = beat(first);
    server.reset();
    start();
    const auto reply = beat(delta_of(first));
    EXPECT_TRUE(reply.need_full);
    EXPECT_NE(reply.tracker, before.tracker);
    auto full = first;
    full.sequence = 3;
    EXPECT_TRUE(beat(full).young);
    EXPECT_EQ(get_json("/api/v1/status")["complete_picture"], false);
    jump(6s);
    EXPECT_FALSE(beat(delta_of(full)).young);
    EXPECT_EQ(get_json("/api/v1/status")["complete_picture"], true);
}

TEST_F(Beating, WhoGoesSilentIsGoneFromTheReplies)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    const auto second = beat_of(2, {holding(1, HoldState::fetching)});
    beat(first);
    EXPECT_THAT(beat(second).swarms.at(0).neighbours, SizeIs(1));
    jump(5s);
    EXPECT_THAT(beat(delta_of(second)).swarms.at(0).neighbours, SizeIs(1));
    jump(3s);
    EXPECT_THAT(beat(delta_of(delta_of(second))).swarms.at(0).neighbours, IsEmpty());
}

TEST_F(Beating, WhoLeavesIsGoneAtOnceAndTheOthersAreTold)
{
    const auto first = beat_of(1, {holding(1, HoldState::fetching)});
    auto second = beat_of(2, {holding(1, HoldState::fetching)});
    beat(first);
    beat(second);
    const auto told = hold(delta_of(first));
    ASSERT_TRUE(wait(told));  // of the second
    const auto waits = hold(delta_of(delta_of(first)));
    settle();
    second.leaving = true;
    beat(second);
    ASSERT_TRUE(wait(waits));
    EXPECT_THAT(waits->reply().swarms.at(0).neighbours, IsEmpty());
}

}  // namespace
}  // namespace shoal::tracker
