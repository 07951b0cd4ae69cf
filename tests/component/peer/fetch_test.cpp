// A whole fetch against a scripted tracker: what it asks, what it believes, what it leaves. The bytes are staged in advance, so that no swarm is needed.
#include "tests/component/peer/small_model.hpp"

#include "common/net/http.hpp"
#include "peer/fetch.hpp"

namespace shoal::peer {
namespace {

using std::chrono::seconds;

class FetchFlow : public PeerFiles {
protected:
    void SetUp() override
    {
        PeerFiles::SetUp();
        auto listening =
            net::HttpServer::listen(loop, "127.0.0.1:0", [this](const net::Request& asked, const net::Respond& respond) { respond(answer(asked)); });
        ASSERT_TRUE(listening) << listening.error().message;
        server = std::move(listening).value();
        request.site = site;
        request.ask.model = "llama";
        request.ask.revision = model.data->revision;
        request.timeout = seconds{20};
        request.stall_timeout = seconds{10};
        serve(model);
    }

    void serve(const SmallModel& served)
    {
        const std::string base = "/api/v1/revisions/" + to_hex(served.data->revision);
        pages[base + "/manifest"] = served.data->manifest_bytes;
        pages[base + "/layers"] = served.data->layer_bytes;
    }

    net::Response answer(const net::Request& asked)
    {
        ++asked_for[asked.path];
        const auto page = pages.find(asked.path);
        if (page != pages.end()) return {200, "application/octet-stream", page->second, {}};
        return {404, "application/problem+json", R"({"title":"Not Found","status":404,"detail":"not in the store"})", {}};
    }

    // How the fetch ended. Its trackers: the scripted one, unless others are named.
    Result<void> run()
    {
        Presence presence;
        presence.trackers = trackers.empty() ? std::vector<std::string>{"http://" + server->endpoint()} : trackers;
        presence.listen = {"127.0.0.1:0"};
        Report report{Output::text, seconds{10}};
        Result<void> ended = failure(Errc::internal, "never ended");
        Fetch fetch{loop, request, presence, report, [&](Result<void> result) {
                        ended = std::move(result);
                        loop.stop();
                    }};
        loop.post([&] { fetch.start(); });
        loop.run();
        return ended;
    }

    // As an earlier run that was broken off left it.
    void stage_all()
    {
        Errand all = errand(model);
        auto workspace = prepare_workspace(all);
        ASSERT_TRUE(workspace) << workspace.error().message;
        for (std::uint32_t piece = 0; piece < model.data->layout->pieces(); ++piece)
            ASSERT_TRUE(workspace.value().storage->write(PieceIndex{piece}, 0, as_bytes(model.piece(piece))));
        all.claim->release();
    }

    SmallModel model = usual_model();
    net::Loop loop;
    std::map<std::string, std::string> pages;
    std::map<std::string, int> asked_for;
    std::vector<std::string> trackers;
    std::unique_ptr<net::HttpServer> server;
    FetchRequest request;
};

TEST_F(FetchFlow, WhatIsStagedIsPlacedAndASecondRunAsksNobody)
{
    stage_all();
    const auto first = run();
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(read(site.final("config.json")), "{}");
    EXPECT_TRUE(std::filesystem::exists(site.marker()));
    EXPECT_FALSE(std::filesystem::exists(site.shoal));
    asked_for.clear();
    const auto second = run();
    EXPECT_TRUE(second) << second.error().message;
    EXPECT_TRUE(asked_for.empty());
}

TEST_F(FetchFlow, AnUnknownRevisionIsNotFoundAndLeavesNothing)
{
    pages.clear();
    const auto ended = run();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::not_found);
    EXPECT_NE(ended.error().message.find(to_string(model.data->revision)), std::string::npos) << ended.error().message;
    EXPECT_FALSE(std::filesystem::exists(site.directory));
}

TEST_F(FetchFlow, AManifestThatIsNotTheRevisionsIsAnIntegrityError)
{
    for (auto& [path, page] : pages)
        if (path.ends_with("/manifest")) page += " ";
    const auto ended = run();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::integrity);
    EXPECT_FALSE(std::filesystem::exists(site.directory));
}

TEST_F(FetchFlow, LayersThatDoNotLeadToTheRootsAreAnIntegrityError)
{
    for (auto& [path, page] : pages)
        if (path.ends_with("/layers")) page[40] = static_cast<char>(page[40] ^ 1);
    EXPECT_EQ(run().error().code, Errc::integrity);
}

TEST_F(FetchFlow, ARevisionOfAnotherModelIsNotFound)
{
    request.ask.model = "other";
    const auto ended = run();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::not_found);
    EXPECT_NE(ended.error().message.find("llama"), std::string::npos);
}

TEST_F(FetchFlow, FiltersThatLeaveNothingAreNotFoundAndLeaveNothing)
{
    request.ask.include = {"*.gguf"};
    EXPECT_EQ(run().error().code, Errc::not_found);
    EXPECT_FALSE(std::filesystem::exists(site.directory));
}

TEST_F(FetchFlow, ATagIsResolvedByTheTracker)
{
    stage_all();
    request.ask.tag = "prod";
    request.ask.revision = {};
    request.revision_known = false;
    pages["/api/v1/models/llama/tags/prod"] = R"({"revision":")" + to_string(model.data->revision) + "\"}";
    const auto ended = run();
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(decode_marker(read(site.marker())).value().tag, "prod");
}

TEST_F(FetchFlow, AHeldTagNeedsNoTracker)
{
    stage_all();
    request.ask.tag = "prod";
    request.held_tag_patience = std::chrono::milliseconds{100};
    ASSERT_TRUE(run());
    request.ask.revision = {};
    request.revision_known = false;
    trackers = {"http://127.0.0.1:1"};
    const auto ended = run();
    EXPECT_TRUE(ended) << ended.error().message;
    request.ask.tag = "other";
    request.timeout = seconds{1};
    EXPECT_EQ(run().error().code, Errc::timed_out);
}

TEST_F(FetchFlow, C52_NoTrackerIsATimeOutThatNamesEach)
{
    trackers = {"http://127.0.0.1:1", "http://127.0.0.2:1"};
    request.timeout = seconds{1};
    const auto ended = run();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::timed_out);
    EXPECT_NE(ended.error().message.find("127.0.0.1:1"), std::string::npos) << ended.error().message;
    EXPECT_NE(ended.error().message.find("127.0.0.2:1"), std::string::npos) << ended.error().message;
}

TEST_F(FetchFlow, C55_ForeignFilesAreRefusedWithoutAskingAnybody)
{
    write(site.final("notes.txt"), "mine");
    const auto ended = run();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::not_allowed);
    EXPECT_TRUE(asked_for.empty());
    EXPECT_EQ(read(site.final("notes.txt")), "mine");
    EXPECT_FALSE(std::filesystem::exists(site.shoal));
}

TEST_F(FetchFlow, C81_StagedBytesAreNoSuccessWhenTheTrackerHasOnlyErrors)
{
    {
        Errand all = errand(model);
        auto workspace = prepare_workspace(all).value();
        ASSERT_TRUE(workspace.storage->write(PieceIndex{0}, 0, as_bytes(model.piece(0))));
        all.claim->release();
    }
    pages.clear();
    EXPECT_FALSE(run());
    EXPECT_FALSE(std::filesystem::exists(site.marker()));
}

TEST_F(FetchFlow, C44_ItWaitsForAnotherAndReportsWhatThatOneBrought)
{
    stage_all();
    Errand theirs = errand(model);
    const auto finish = loop.after(std::chrono::milliseconds{300}, [&] {
        auto workspace = prepare_workspace(theirs);
        Marker marker;
        marker.model = "llama";
        marker.revision = model.data->revision;
        Placement placement{site, marker, model.data->manifest, workspace.value().plan, {}, false, *theirs.claim, *workspace.value().cache, {}};
        EXPECT_TRUE(place(placement));
    });
    const auto ended = run();
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(decode_marker(read(site.marker())).value().by, "");  // theirs
}

TEST_F(FetchFlow, C44_WhoLosesItsClaimBeginsAgain)
{
    model = SmallModel{{{"weights.bin", random_text(64U << 20U, 1)}}};  // takes a while to hash
    request.ask.revision = model.data->revision;
    serve(model);
    stage_all();
    int seen = 0;
    bool taken = false;
    const auto thief = loop.every(std::chrono::milliseconds{1}, [&] {
        std::error_code absent;
        for (std::filesystem::directory_iterator at{site.work(), absent}, end; !absent && at != end && !taken; at.increment(absent)) {
            const std::string name = at->path().filename().string();
            if (!name.starts_with("owner.") || name == "owner.none" || ++seen < 10) continue;  // it hashes by now, and finds out when it places
            std::filesystem::rename(at->path(), site.work() / "owner.none");
            taken = true;
        }
    });
    const auto ended = run();
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(taken);
    EXPECT_EQ(read(site.directory / "weights.bin"), model.content.at("weights.bin"));
}

}  // namespace
}  // namespace shoal::peer
