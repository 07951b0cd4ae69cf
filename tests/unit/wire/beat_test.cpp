#include "common/wire/beat.hpp"

#include "common/core/random.hpp"
#include "common/wire/msgpack_guard.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>

namespace shoal::wire {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

Holding some_holding(unsigned n)
{
    Holding one;
    one.revision = random_id<RevisionId>();
    one.model = "meta-llama/Llama-" + std::to_string(n);
    one.state = HoldState::fetching;
    one.bytes_total = 1ULL << 40U;
    one.bytes_have = 7;
    one.from_origin = 1;
    one.from_peers = 2;
    one.sent = 3;
    one.rate = 4;
    one.trouble = "waits for \xc3\xa9";
    return one;
}

Beat some_beat()
{
    Beat beat;
    beat.peer = random_id<PeerId>();
    beat.instance = ~0ULL;
    beat.key = random_id<MemberKey>();
    beat.role = Role::seeder;
    beat.sequence = 300;
    beat.full = false;
    beat.leaving = true;
    beat.dialable = false;
    beat.port = 6881;
    beat.addresses = {"10.0.0.1:6881", "[::1]:6881"};
    beat.software = "shoal-peer 0.1.0";
    beat.node = "node-1";
    beat.zone = "a";
    beat.rack = "r";
    beat.labels = {{"k", "v"}, {"", ""}};
    beat.workload = {"ns", "pod", "uid", "job"};
    beat.holdings = {some_holding(1), some_holding(2)};
    beat.dropped = {random_id<RevisionId>()};
    beat.received = {{random_id<PeerId>(), 1ULL << 33U}};
    beat.wait_ms = 3000;
    beat.origin_rate = 4;
    beat.origin_busy = true;
    beat.origin_confirmed = {{random_id<TrackerId>(), 5}};
    return beat;
}

Reply some_reply()
{
    Reply reply;
    reply.tracker = random_id<TrackerId>();
    reply.beat_ms = 2000;
    reply.need_full = true;
    reply.refusal = "no";
    reply.warning = "two of you";
    reply.young = true;
    reply.stock_clients = true;
    reply.zone = "z";
    reply.rack = "r";
    Neighbour one{random_id<PeerId>(), random_id<MemberKey>(), Role::seeder, Nearness::zone, false, true, {"10.0.0.2:1"}, false, true, "z"};
    reply.swarms = {{random_id<RevisionId>(), "llama", {one, Neighbour{}}, "flipped", 3, {random_id<PeerId>()}}};
    reply.wishes = {{random_id<RevisionId>(), "llama"}};
    reply.origin_capped = true;
    reply.origin_copies = 3;
    reply.origin = {6, 7};
    return reply;
}

TEST(Wire, BeatsAndRepliesArriveAsTheyWere)
{
    const Beat beat = some_beat();
    const auto beat_back = decode_beat(as_bytes(encode(beat)));
    ASSERT_TRUE(beat_back) << beat_back.error().text();
    EXPECT_EQ(beat_back.value(), beat);
    EXPECT_EQ(decode_beat(as_bytes(encode(Beat{}))).value(), Beat{});
    const Reply reply = some_reply();
    const auto reply_back = decode_reply(as_bytes(encode(reply)));
    ASSERT_TRUE(reply_back) << reply_back.error().text();
    EXPECT_EQ(reply_back.value(), reply);
    EXPECT_EQ(decode_reply(as_bytes(encode(Reply{}))).value(), Reply{});
}

TEST(Wire, ABeatWithNothingNewIsSmall)
{
    Beat beat = some_beat();
    beat.holdings.clear();
    beat.labels.clear();
    EXPECT_LT(encode(beat).size(), 500U);
}

// {"version": 1, "peer": 16 bytes, <extra>} with `extra` as packed key and value.
std::string beat_with(const std::string& extra, unsigned extra_keys = 1)
{
    return std::string(1, static_cast<char>(0x82 + extra_keys)) + "\xa7version\x01\xa4peer\xc4\x10"s + std::string(16, 'p') + extra;
}

TEST(Wire, IgnoresKeysItDoesNotKnow_AndTakesDefaultsForThoseThatAreMissing)
{
    const auto beat = decode_beat(as_bytes(beat_with("\xa6"
                                                     "future\x93\x01\xc3\x81\xa1x\xc0")));
    ASSERT_TRUE(beat) << beat.error().text();
    EXPECT_TRUE(beat.value().full);
    EXPECT_TRUE(beat.value().dialable);
    EXPECT_TRUE(decode_beat(as_bytes(beat_with("\x07\x08"))));  // a key that is no string
}

TEST(Wire, RefusesAKeyThatIsNotWhatItShouldBe_ByName)
{
    const std::pair<std::string, const char*> wrong[] = {
        {"\xa4port\xcd\xff\xff\xa4port\xc0", ""},  // the first counts
        {"\xa4port\xce\x00\x01\x00\x00"s, "port"},
        {"\xa4port\xff", "port"},
        {"\xa4port\xa1x", "port"},
        {"\xa4"
         "full\x01",
            "full"},
        {"\xa4role\x02", "role"},
        {"\xa3key\xc4\x01x", "key"},
        {"\xa6labels\x81\xa1k\x01", "labels"},
        {"\xa8holdings\x91\x80", "holdings.revision"},
        {"\xa8holdings\x81\x01\x02", "holdings"},
        {"\xa8workload\x81\xa3uid\x01", "workload.uid"},
    };
    for (const auto& [extra, where] : wrong) {
        const bool twice = std::string_view{where}.empty();
        const auto beat = decode_beat(as_bytes(beat_with(extra, twice ? 2 : 1)));
        EXPECT_EQ(beat.has_value(), twice) << where;
        if (beat) continue;
        EXPECT_EQ(beat.error().code, Errc::malformed);
        EXPECT_THAT(beat.error().message, HasSubstr("'" + std::string{where} + "'"));
    }
}

TEST(Wire, RefusesMessagesWithoutTheirIdentity)
{
    EXPECT_FALSE(decode_beat(as_bytes("\x81\xa7version\x01"s)));
    EXPECT_FALSE(decode_beat(as_bytes("\x80"s)));
    EXPECT_FALSE(decode_beat(as_bytes("\x90"s)));
    EXPECT_FALSE(decode_beat({}));
}

TEST(Wire, C39_ReadsOnlyTheVersionOfAMessageThatItDoesNotUnderstand)
{
    EXPECT_TRUE(understood(0) && understood(1) && understood(2));
    EXPECT_FALSE(understood(3) || understood(~0U));
    const auto beat = decode_beat(as_bytes("\x82\xa7version\x09\xa4peer\xa5other"s));
    ASSERT_TRUE(beat);
    EXPECT_EQ(beat.value().version, 9U);
}

TEST(Wire, HoldsItsLimits)
{
    Beat beat = some_beat();
    const auto code = [](const Beat& one) { return decode_beat(as_bytes(encode(one))).error().code; };
    const auto with = [&beat](const std::function<void(Beat&)>& change) {
        Beat changed = beat;
        change(changed);
        return changed;
    };
    EXPECT_EQ(code(with([](Beat& one) { one.holdings.resize(4097); })), Errc::too_large);
    EXPECT_EQ(code(with([](Beat& one) { one.addresses.resize(17); })), Errc::too_large);
    EXPECT_EQ(code(with([](Beat& one) { one.node.resize(4097, 'x'); })), Errc::too_large);
    EXPECT_EQ(code(with([](Beat& one) {
        for (int i = 0; i < 65; ++i) one.labels[std::to_string(i)] = "";
    })),
        Errc::too_large);
    EXPECT_TRUE(decode_beat(as_bytes(encode(with([](Beat& one) { one.holdings.resize(4096); })))));
    Reply reply = some_reply();
    reply.swarms[0].neighbours.resize(257);
    EXPECT_EQ(decode_reply(as_bytes(encode(reply))).error().code, Errc::too_large);
    EXPECT_EQ(decode_beat(as_bytes(std::string(max_beat_bytes + 1, '\xc0'))).error().code, Errc::too_large);
}

TEST(Wire, RefusesWhatIsCutOffOrGoesOn)
{
    const std::string bytes = encode(some_beat());
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_beat(as_bytes(std::string_view{bytes}.substr(0, size)))) << size;
    EXPECT_FALSE(decode_beat(as_bytes(bytes + "\xc0")));
}

TEST(Wire, RefusesMoreThanItsSizeJustifies)
{
    EXPECT_FALSE(check_msgpack(as_bytes("\xdd\xff\xff\xff\xff"s)));  // four thousand million items, it says
    EXPECT_FALSE(check_msgpack(as_bytes("\xdf\xff\xff\xff\xff"s)));
    EXPECT_FALSE(check_msgpack(as_bytes("\xdb\xff\xff\xff\xffx"s)));
    EXPECT_FALSE(check_msgpack(as_bytes("\xc7\x01\x05x"s)));  // an extension type
    EXPECT_FALSE(check_msgpack(as_bytes("\x91\x91\x91\x91\x91\x91\x91\x91\x91\xc0"s)));
    EXPECT_TRUE(check_msgpack(as_bytes("\x91\x91\x91\x91\x91\x91\x91\x91\xc0"s)));
    std::string many = "\xdc\x0f\xff"s;  // 4095 arrays of 15 nils: 16 bytes a time for 16 values
    for (int i = 0; i < 4095; ++i) many += "\x9f" + std::string(15, '\xc0');
    EXPECT_EQ(check_msgpack(as_bytes(many)).error().code, Errc::too_large);
}

TEST(Wire, RandomBytesAndFlippedBitsNeverThrow)
{
    Random random{42};
    const std::string good = encode(some_beat());
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = good;
        for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
        bytes.resize(1 + random() % bytes.size());
        const auto beat = decode_beat(as_bytes(bytes));
        if (!beat || !understood(beat.value().version)) continue;
        EXPECT_EQ(decode_beat(as_bytes(encode(beat.value()))).value(), beat.value());
    }
}

}  // namespace
}  // namespace shoal::wire
