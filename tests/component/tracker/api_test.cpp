#include "common/model/layers.hpp"
#include "common/model/torrent.hpp"
#include "common/net/http.hpp"
#include "tests/component/tracker/fixture.hpp"
#include "tracker/announces.hpp"

#include <filesystem>
#include <fstream>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using wire::HoldState;

class Asking : public TrackerTest {
protected:
    void place(const std::string& model = "meta-llama/Llama")
    {
        placed = shelf.place(model, {{"a.bin", seeder::noise(600'000, 1)}, {"b.txt", "b"}});
        hex = to_hex(placed.id);
    }
    wire::Holding placed_holding(HoldState state) const
    {
        wire::Holding mine = holding(1, state);
        mine.revision = placed.id;
        mine.model = placed.manifest.model;
        return mine;
    }
    void damage(const std::string& key) { std::ofstream{shelf.object(key), std::ios::app} << "x"; }

    seeder::Placed placed;
    std::string hex;
};

TEST_F(Asking, TheManifestAndTheLayersComeAsTheirExactBytes)
{
    place();
    start();
    EXPECT_EQ(model::revision_of(get("/api/v1/revisions/" + hex + "/manifest").body), placed.id);
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/layers").body, model::encode(placed.layers));
    EXPECT_EQ(get("/api/v1/revisions/" + std::string(64, '0') + "/manifest").status, 404);
    EXPECT_EQ(get("/api/v1/revisions/" + std::string(64, 'x') + "/manifest").status, 400);
}

TEST_F(Asking, WrongBytesAreHandedOnForTheReaderToNameAndAreNotKept)
{
    place();
    start();
    damage(objectstore::manifest_key(placed.id));
    const auto manifest = get("/api/v1/revisions/" + hex + "/manifest");
    EXPECT_EQ(manifest.status, 200);
    EXPECT_NE(model::revision_of(manifest.body), placed.id);
    const std::string trouble = get_json("/api/v1/revisions/" + hex)["trouble"];
    EXPECT_THAT(trouble, HasSubstr(hex));
    std::ofstream{shelf.object(objectstore::manifest_key(placed.id)), std::ios::trunc} << model::encode(placed.manifest);
    jump(2s);
    EXPECT_EQ(model::revision_of(get("/api/v1/revisions/" + hex + "/manifest").body), placed.id);
}

TEST_F(Asking, ARevisionThatIsRemovedFromTheStoreIsNotFoundSomeSecondsLater)
{
    place();
    start();
    for (const char* what : {"", "/manifest", "/layers"}) EXPECT_EQ(get("/api/v1/revisions/" + hex + what).status, 200) << what;
    for (const std::string& key : {objectstore::manifest_key(placed.id), objectstore::layers_key(placed.id)}) ASSERT_TRUE(store->remove(key));
    jump(6s);
    for (const char* what : {"", "/manifest", "/layers"}) {
        EXPECT_EQ(get("/api/v1/revisions/" + hex + what).status, 404) << what;
        jump(2s);  // of what was in the cache nothing comes back
        EXPECT_EQ(get("/api/v1/revisions/" + hex + what).status, 404) << what;
    }
    EXPECT_THAT(get("/api/v1/revisions/" + hex + "/manifest").body, HasSubstr("revision sha256:" + hex + " not found"));
    place();
    jump(2s);
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/manifest").status, 200);
}

TEST_F(Asking, WhatWasReadIsAnsweredWhileTheStoreIsAway)
{
    place();
    start();
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/manifest").status, 200);
    std::filesystem::rename(shelf.object(""), shelf.object("") / ".." / "away");
    for (int i = 0; i < 3; ++i) {
        jump(60s);
        EXPECT_EQ(get("/api/v1/revisions/" + hex + "/manifest").status, 200);
    }
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/layers").status, 503);
}

TEST_F(Asking, TagsAreResolvedAndMayChange)
{
    place();
    start();
    ASSERT_TRUE(store->put(objectstore::tag_key("meta-llama/Llama", "prod"), objectstore::encode_pointer(placed.id), objectstore::Condition::always()));
    const auto tag = get_json("/api/v1/models/meta-llama%2FLlama/tags/prod");
    EXPECT_EQ(tag["revision"], to_string(placed.id));
    EXPECT_EQ(tag["model"], "meta-llama/Llama");
    EXPECT_EQ(get("/api/v1/models/meta-llama%2FLlama/tags/none").status, 404);
    EXPECT_EQ(get("/api/v1/models/meta-llama%2FLlama/tags/-x").status, 400);
    EXPECT_EQ(get("/api/v1/models/none/tags/prod").status, 404);
    ASSERT_TRUE(store->put(objectstore::tag_key("meta-llama/Llama", "prod"), objectstore::encode_pointer(revision(9)), objectstore::Condition::always()));
    jump(2s);
    EXPECT_EQ(get_json("/api/v1/models/meta-llama%2FLlama/tags/prod")["revision"], to_string(revision(9)));
}

TEST_F(Asking, ModelsAreListedByPages)
{
    for (const auto* name : {"a", "b", "c"}) place(name);
    start();
    const auto first = get_json("/api/v1/models?limit=2");
    EXPECT_THAT(first["models"], SizeIs(2));
    const auto second = get_json("/api/v1/models?limit=2&cursor=" + net::percent_encode(first["next"].get<std::string>()));
    ASSERT_THAT(second["models"], SizeIs(1));
    EXPECT_EQ(second["models"][0]["model"], "c");
    EXPECT_EQ(second["next"], "");
    EXPECT_EQ(get("/api/v1/models?limit=0").status, 400);
    EXPECT_EQ(get_json("/api/v1/models/c")["revisions"][0]["revision"], to_string(placed.id));
    EXPECT_EQ(get("/api/v1/models/..").status, 400);
}

TEST_F(Asking, ADamagedRecordIsNamedAndHidesNothingElseOfItsModel)
{
    place("m");
    start();
    ASSERT_TRUE(store->put(objectstore::tag_key("m", "prod"), objectstore::encode_pointer(placed.id), objectstore::Condition::always()));
    ASSERT_TRUE(store->put(objectstore::tag_key("m", "bad"), "garbage", objectstore::Condition::always()));
    const auto model = get_json("/api/v1/models/m");
    ASSERT_THAT(model["tags"], SizeIs(1));
    EXPECT_EQ(model["tags"][0]["tag"], "prod");
    ASSERT_THAT(model["troubles"], SizeIs(1));
    EXPECT_THAT(model["troubles"][0].get<std::string>(), HasSubstr("models/m/tags/bad"));
    const auto bad = get("/api/v1/models/m/tags/bad");
    EXPECT_EQ(bad.status, 502);
    EXPECT_THAT(bad.body, HasSubstr("models/m/tags/bad"));
    ASSERT_TRUE(store->put(objectstore::manifest_key(placed.id), std::string(20U << 20U, 'g'), objectstore::Condition::always()));
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/manifest").status, 502);
}

TEST_F(Asking, AModelSaysWhetherARevisionIsItsOwn)
{
    place();
    start();
    EXPECT_EQ(get("/api/v1/models/meta-llama%2FLlama/revisions/" + hex).status, 200);
    EXPECT_EQ(get("/api/v1/models/other/revisions/" + hex).status, 404);
}

TEST_F(Asking, ARevisionShowsWhoHoldsItWithThoseThatLackPartFirst)
{
    place();
    start();
    beat(beat_of(1, {placed_holding(HoldState::held)}));
    beat(beat_of(2, {placed_holding(HoldState::fetching)}));
    const auto said = get_json("/api/v1/revisions/" + hex + "?limit=1");
    EXPECT_EQ(said["model"], "meta-llama/Llama");
    EXPECT_EQ(said["bytes"], 600'001);
    EXPECT_EQ(said["files"], 2);
    EXPECT_EQ(said["ready_nodes"], 1);
    EXPECT_EQ(said["fetching_nodes"], 1);
    ASSERT_THAT(said["nodes"], SizeIs(1));
    EXPECT_EQ(said["nodes"][0]["node"], "node-2");
    EXPECT_EQ(said["nodes"][0]["state"], "fetching");
    EXPECT_EQ(said["nodes"][0]["zone"], "zone-a");
    EXPECT_NE(said["next"], "");
    EXPECT_EQ(get("/api/v1/revisions/" + std::string(64, '0')).status, 404);
}

TEST_F(Asking, C38_PeersOfOneNodeAreToldApartAndTheNodeIsCountedOnce)
{
    start();
    for (std::uint32_t i = 1; i <= 5; ++i) {
        auto each = beat_of(i, {holding(1, i == 5 ? HoldState::wanted : HoldState::held)});
        each.node = "worker";
        beat(each);
    }
    EXPECT_EQ(get_json("/api/v1/status")["nodes"], 1);
    EXPECT_EQ(get_json("/api/v1/status")["processes"], 5);
    EXPECT_THAT(get_json("/api/v1/nodes/worker")["peers"], SizeIs(5));
    EXPECT_THAT(get_json("/api/v1/transfers")["transfers"], SizeIs(1));
    EXPECT_EQ(get("/api/v1/nodes/none").status, 404);
    EXPECT_THAT(get("/metrics").body, HasSubstr("shoal_nodes{state=\"fetching\",zone=\"zone-a\"} 1"));
}

TEST_F(Asking, AMembersKeyIsNeverShown)
{
    start();
    beat(beat_of(0x61626364, {holding(1, HoldState::fetching)}));
    for (const auto* page : {"nodes", "transfers", "status", "events"})
        EXPECT_THAT(get(std::string{"/api/v1/"} + page).body, Not(HasSubstr("\"key\""))) << page;
    const auto nodes = get_json("/api/v1/nodes");
    for (const auto& entry : nodes["nodes"][0]["peers"]) EXPECT_FALSE(entry.contains("key"));
}

TEST_F(Asking, C69_TextThatIsNoUtf8OrMarkupIsShownAsText)
{
    start();
    auto odd = beat_of(1);
    odd.labels = {{"note", "<img src=x onerror=alert(1)>\xff"}};
    beat(odd);
    const auto page = get("/api/v1/nodes");
    EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
    EXPECT_THAT(nlohmann::json::parse(page.body)["nodes"][0]["peers"][0]["labels"]["note"].get<std::string>(), StartsWith("<img src=x"));
}

TEST_F(Asking, MetricsOfWhatHasGoneEnd)
{
    start();
    beat(beat_of(1, {holding(1, HoldState::held)}));
    EXPECT_THAT(get("/metrics").body, HasSubstr("shoal_revision_nodes{model=\"llama\""));
    EXPECT_THAT(get("/metrics").body, HasSubstr("shoal_beat_seconds_count 1"));
    jump(8s);
    EXPECT_THAT(get("/metrics").body, Not(HasSubstr("shoal_revision_nodes{model=\"llama\"")));
}

TEST_F(Asking, IsReadyOnceTheStoreAnswers)
{
    start();
    EXPECT_EQ(get("/livez").status, 200);
    bool ready = false;
    for (int i = 0; i < 100 && !ready; ++i) ready = get("/readyz").status == 200;
    EXPECT_TRUE(ready);
    EXPECT_EQ(get("/nothing").status, 404);
    const auto written = send("POST", "/api/v1/status", "x");
    ASSERT_TRUE(wait(written));
    EXPECT_EQ(written->answer->value().status, 405);
    const auto looked_at = send("HEAD", "/livez", "");
    ASSERT_TRUE(wait(looked_at));
    EXPECT_EQ(looked_at->answer->value().status, 200);
    EXPECT_EQ(looked_at->answer->value().body, "");
}

TEST(Announces, C31_AClientThatAnnouncesEveryFiveMinutesIsKnownAllTheTime)
{
    const TimePoint start{};
    const RevisionId revision{};
    Announces announces;
    ASSERT_TRUE(announces.announce(revision, {{}, "10.0.0.1:6881", false}, start));
    EXPECT_THAT(announces.expire(start + 5min + 30s), IsEmpty());
    EXPECT_THAT(announces.expire(start + 7min), SizeIs(1));
    EXPECT_THAT(announces.of(revision), IsEmpty());
}

TEST_F(Asking, C31_AStockClientIsToldNothingUnlessAllowed)
{
    place();
    start();
    EXPECT_EQ(get("/announce?info_hash=x").status, 403);
    EXPECT_EQ(get("/scrape").status, 403);
    EXPECT_EQ(get("/api/v1/revisions/" + hex + "/torrent").status, 403);
}

TEST_F(Asking, C31_AnAllowedStockClientGetsATorrentAndTheSwarmsPeersAndTheyHearOfIt)
{
    place();
    start(StockClients::allowed);
    const auto seeder = seeder_beat(900);
    beat(seeder);
    const auto wish = hold(delta_of(seeder));
    const std::string torrent = get("/api/v1/revisions/" + hex + "/torrent").body;
    EXPECT_THAT(torrent, StartsWith("d8:announce"));
    EXPECT_THAT(torrent, HasSubstr(model::info_dictionary(placed.layout(), placed.id)));

    const InfoHash hash = model::info_hash(placed.layout(), placed.id);
    const std::string short_hash = net::percent_encode(std::string{reinterpret_cast<const char*>(hash.bytes.data()), 20});
    const std::string announce = "/announce?info_hash=" + short_hash + "&peer_id=-XX0000-abcdefghijkl&port=5000&left=10&compact=1";
    EXPECT_THAT(get(announce).body, HasSubstr("10:incompletei1e"));
    ASSERT_TRUE(wait(wish));
    ASSERT_THAT(wish->reply().wishes, SizeIs(1));
    EXPECT_EQ(wish->reply().wishes[0].revision, placed.id);

    const auto serving = beat(delta_of(delta_of(seeder), {placed_holding(HoldState::held)}));
    EXPECT_TRUE(serving.stock_clients);
    ASSERT_THAT(serving.swarms.at(0).neighbours, SizeIs(1));
    EXPECT_TRUE(serving.swarms[0].neighbours[0].key.is_zero());
    EXPECT_EQ(serving.swarms[0].neighbours[0].endpoints.at(0), "127.0.0.1:5000");
    const std::string peers = get(announce).body;  // 10.0.3.132:6881
    EXPECT_THAT(peers, HasSubstr(std::string{"5:peers6:\x0a\x00\x03\x84\x1a\xe1", 15}));
    EXPECT_THAT(get("/scrape?info_hash=" + short_hash).body, HasSubstr("8:completei1e"));
    EXPECT_THAT(get(announce + "&event=stopped").body, HasSubstr("10:incompletei0e"));
    EXPECT_THAT(get("/announce?info_hash=" + std::string(20, 'a') + "&peer_id=-XX0000-abcdefghijkl&port=1").body, HasSubstr("failure reason"));
    EXPECT_THAT(get("/announce?info_hash=abc").body, HasSubstr("failure reason"));
}

}  // namespace
}  // namespace shoal::tracker
