#include "common/control/client.hpp"

#include "common/core/random.hpp"
#include "tests/component/net/loopback.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace shoal::control {
namespace {

using namespace std::chrono_literals;
using net::test::run_until;
using testing::HasSubstr;

RevisionId revision(unsigned n)
{
    RevisionId id;
    id.bytes[0] = static_cast<std::uint8_t>(n);
    return id;
}

// A tracker that keeps what it is told, holds replies until news, and answers GETs as scripted.
class Tracker {
public:
    explicit Tracker(net::Loop& loop, const std::string& endpoint = "127.0.0.1:0") : loop_{loop}
    {
        server_ = listen(endpoint, status);
        reply.tracker = random_id<TrackerId>();
        reply.beat_ms = 200;
    }
    [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const { return "http://" + host + ":" + std::to_string(port()); }
    [[nodiscard]] std::uint16_t port() const { return net::test::port_of(server_->endpoint()); }

    // One more address, which answers `alias_status`.
    std::string alias()
    {
        alias_ = listen("127.0.0.1:0", alias_status);
        return "http://" + alias_->endpoint();
    }
    void restart()
    {
        reply.tracker = random_id<TrackerId>();
        holdings.clear();
        sequence = 0;
    }
    void tell_news()
    {
        for (const auto& [respond, tells] : std::exchange(held, {})) answer(respond);
    }

    wire::Reply reply;
    std::map<RevisionId, wire::Holding> holdings;
    std::uint64_t sequence = 0;
    std::vector<wire::Beat> beats;
    std::vector<TimePoint> heard;
    std::vector<std::pair<net::Respond, bool>> held;
    std::map<std::string, net::Response> pages;
    std::size_t asked = 0;
    int status = 200;
    int alias_status = 200;
    bool crosses = false;  // answers a newer beat before the one that is held

private:
    std::unique_ptr<net::HttpServer> listen(const std::string& endpoint, const int& answer)
    {
        auto server = net::HttpServer::listen(loop_, endpoint, [this, &answer](const net::Request& request, net::Respond respond) {
            if (answer != 200 && request.method == "POST") return respond({.status = answer});
            take(request, std::move(respond));
        });
        EXPECT_TRUE(server) << server.error().text();
        return std::move(server.value());
    }
    void take(const net::Request& request, net::Respond respond)
    {
        if (request.method != "POST") {
            ++asked;
            const auto page = pages.find(request.path);
            return respond(page == pages.end() ? net::Response{.status = 503} : page->second);
        }
        EXPECT_EQ(request.path, "/control/v1/beat");
        EXPECT_EQ(request.headers.at("content-type"), "application/msgpack");
        auto beat = wire::decode_beat(as_bytes(request.body));
        ASSERT_TRUE(beat) << beat.error().text();
        beats.push_back(beat.value());
        heard.push_back(Clock::now());
        reply.need_full = !absorb(beat.value());
        if (beat.value().wait_ms == 0 || reply.need_full || (crosses && !held.empty())) return answer(respond);
        tell_news();  // a newer beat of the same peer
        held.emplace_back(std::move(respond), true);
        ends_.push_back(loop_.after(std::chrono::milliseconds{beat.value().wait_ms}, [this] { tell_news(); }));
    }
    bool absorb(const wire::Beat& beat)
    {
        if (beat.sequence < sequence) return true;  // overtaken
        if (!beat.full && (sequence == 0 || beat.sequence > sequence + 1)) return false;
        if (beat.full) holdings.clear();
        for (const auto& one : beat.holdings) holdings.insert_or_assign(one.revision, one);
        for (const auto& gone : beat.dropped) holdings.erase(gone);
        sequence = beat.sequence;
        return true;
    }
    void answer(const net::Respond& respond) { respond({.content_type = "application/msgpack", .body = wire::encode(reply)}); }

    net::Loop& loop_;
    std::unique_ptr<net::HttpServer> server_;
    std::unique_ptr<net::HttpServer> alias_;
    std::vector<net::Handle> ends_;
};

class ClientTest : public testing::Test, public View {
protected:
    wire::Beat beat() override
    {
        wire::Beat whole;
        whole.peer.bytes[0] = 1;
        for (const auto& [id, one] : state) whole.holdings.push_back(one);
        return whole;
    }
    void on_reply(const wire::Reply& reply) override { replies.push_back(reply); }
    [[nodiscard]] bool hold() const override { return holds; }

    void start(const std::vector<std::string>& urls)
    {
        client = std::make_unique<Client>(loop, urls, *this);
        client->start();
    }
    void have(unsigned n, std::uint64_t bytes)
    {
        wire::Holding one;
        one.revision = revision(n);
        one.bytes_have = bytes;
        state.insert_or_assign(one.revision, one);
    }
    Result<std::string> get(const std::string& target, Duration deadline = 10s, std::size_t limit = 1000)
    {
        std::optional<Result<std::string>> answer;
        client->get(target, limit, deadline, [&](Result<std::string> got) { answer = std::move(got); });
        EXPECT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
        return answer ? *answer : Result<std::string>{failure(Errc::internal, "no end")};
    }
    [[nodiscard]] std::size_t replies_of(const Tracker& tracker) const
    {
        return static_cast<std::size_t>(std::count_if(replies.begin(), replies.end(), [&](const auto& one) { return one.tracker == tracker.reply.tracker; }));
    }

    net::Loop loop;
    std::map<RevisionId, wire::Holding> state;
    std::vector<wire::Reply> replies;
    bool holds = false;
    std::unique_ptr<Client> client;
};

TEST_F(ClientTest, BeatsAtOnceAndThenAsTheTrackerSays)
{
    Tracker tracker{loop};
    have(1, 10);
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 4; }));
    EXPECT_TRUE(tracker.beats[0].full);
    EXPECT_FALSE(tracker.beats[1].full);
    EXPECT_TRUE(tracker.beats[1].holdings.empty());
    EXPECT_EQ(tracker.beats[3].sequence, 4U);
    EXPECT_TRUE(client->trackers()[0].answered);
    EXPECT_EQ(tracker.holdings, state);
}

TEST_F(ClientTest, TellsAChangeAtOnce_AndNotMoreThanTenTimesASecond)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 60'000;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 1; }));
    const TimePoint begin = Clock::now();
    std::uint64_t bytes = 0;
    const net::Handle changes = loop.every(1ms, [&] {
        have(1, ++bytes);
        client->beat_now();
    });
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 6; }));
    EXPECT_GE(Clock::now() - begin, 400ms);
    EXPECT_GT(tracker.holdings.at(revision(1)).bytes_have, 100U);
}

TEST_F(ClientTest, C35_TellsARestartedTrackerAllAtOnce)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 2000;
    have(1, 1);
    have(2, 2);
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 1; }));
    tracker.restart();
    have(3, 3);
    ASSERT_TRUE(run_until(loop, [&] { return tracker.holdings == state; }));
    ASSERT_GE(tracker.beats.size(), 3U);
    EXPECT_FALSE(tracker.beats[1].full);  // this one it could not take
    EXPECT_TRUE(tracker.beats[2].full);
    EXPECT_LT(tracker.heard[2] - tracker.heard[1], 1s);
}

TEST_F(ClientTest, BeatsToEveryTracker)
{
    Tracker first{loop};
    Tracker second{loop};
    have(1, 1);
    start({first.url(), second.url()});
    ASSERT_TRUE(run_until(loop, [&] { return first.holdings == state && second.holdings == state; }));
    state.clear();
    have(2, 1);
    EXPECT_TRUE(run_until(loop, [&] { return first.holdings == state && second.holdings == state && replies_of(first) >= 2 && replies_of(second) >= 2; }));
}

TEST_F(ClientTest, CountsATrackerWithTwoAddressesOnce_AndUsesTheOtherWhenOneDies)
{
    Tracker tracker{loop};
    auto twin = std::make_unique<Tracker>(loop);  // the same tracker behind another address
    twin->reply.tracker = tracker.reply.tracker;
    tracker.reply.beat_ms = twin->reply.beat_ms = 200;
    start({tracker.url(), twin->url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() + twin->beats.size() == 12; }));
    const auto [fewer, more] = std::minmax({tracker.beats.size(), twin->beats.size()});
    EXPECT_LE(fewer, 4U);  // its first, and now and then one that looks whether it is still the same
    EXPECT_GE(more, 8U);
    if (twin->beats.size() > tracker.beats.size()) {
        twin.reset();
        const std::size_t before = tracker.beats.size();
        EXPECT_TRUE(run_until(loop, [&] { return tracker.beats.size() > before + 3; }));
    } else {
        tracker.status = 500;
        const std::size_t before = twin->beats.size();
        EXPECT_TRUE(run_until(loop, [&] { return twin->beats.size() > before + 3; }));
    }
}

TEST_F(ClientTest, TellsATrackerAllAgainWhenAnotherAddressTurnsOutToBeIt)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 60'000;
    tracker.alias_status = 503;
    have(1, 1);
    start({tracker.url(), tracker.alias()});
    ASSERT_TRUE(run_until(loop, [&] { return !client->trackers().empty() && !client->trackers().back().cause.empty() && replies.size() == 1; }));
    tracker.alias_status = 200;  // beats have failed there: the next one's number is greater
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 2; }));
    ASSERT_GT(tracker.sequence, 1U);
    have(2, 2);
    client->beat_now();
    EXPECT_TRUE(run_until(loop, [&] { return tracker.holdings == state; }));
}

TEST_F(ClientTest, NoticesThatASecondAddressHasBecomeAnotherTracker)
{
    Tracker tracker{loop};
    Tracker twin{loop};
    twin.reply.tracker = tracker.reply.tracker;
    tracker.reply.beat_ms = twin.reply.beat_ms = 200;
    have(1, 1);
    start({tracker.url(), twin.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() + twin.beats.size() >= 4; }));
    twin.restart();
    ASSERT_TRUE(run_until(loop, [&] { return twin.holdings == state && tracker.holdings == state && replies_of(twin) >= 3 && replies_of(tracker) >= 3; }));
}

TEST_F(ClientTest, HoldsOneBeatWhileItIsToldTo_AndHearsNewsAtOnce)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 5000;
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));
    EXPECT_LE(tracker.beats[0].wait_ms, 5000U);
    const TimePoint begin = Clock::now();
    tracker.reply.wishes = {{revision(9), "llama"}};
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return !replies.empty() && !replies.back().wishes.empty(); }));
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));  // and the next is there
    EXPECT_LT(Clock::now() - begin, 3s);
}

TEST_F(ClientTest, TellsNewsWhileABeatIsHeld_AndLosesNoAnswer)
{
    Tracker tracker{loop};
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 1; }));
    tracker.reply.beat_ms = 5000;
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1 && tracker.beats.back().wait_ms == 5000; }));
    const std::size_t before = replies.size();
    have(1, 1);
    client->beat_now();
    EXPECT_TRUE(run_until(loop, [&] { return tracker.holdings == state && replies.size() > before; }));
    EXPECT_EQ(tracker.held.size(), 1U);
}

TEST_F(ClientTest, GoesOnAtOnceWhenALaterBeatIsAnsweredFirst)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 5000;
    tracker.crosses = true;
    holds = true;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.held.size() == 1; }));
    have(1, 1);
    client->beat_now();
    ASSERT_TRUE(run_until(loop, [&] { return replies.size() == 1; }));
    const TimePoint begin = Clock::now();
    tracker.tell_news();
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 3; }));
    EXPECT_LT(Clock::now() - begin, 3s);
    EXPECT_EQ(replies.size(), 1U);  // what the old answer says is old
}

TEST_F(ClientTest, DoesNotStormATrackerThatAnswersWithoutHolding)
{
    Tracker tracker{loop};
    tracker.reply.beat_ms = 500;
    holds = true;
    start({tracker.url()});
    const net::Handle release = loop.every(1ms, [&] { tracker.tell_news(); });
    bool later = false;
    const net::Handle end = loop.after(2s, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_LE(tracker.beats.size(), 9U);
}

TEST_F(ClientTest, ShowsARefusalAndGoesOnBeating)
{
    Tracker tracker{loop};
    tracker.reply.refusal = "a second process with this peer id";
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 3; }));
    EXPECT_FALSE(client->trackers()[0].answered);
    EXPECT_EQ(client->trackers()[0].cause, tracker.reply.refusal);
    EXPECT_TRUE(tracker.beats[2].full);
    EXPECT_EQ(replies.back().refusal, tracker.reply.refusal);
}

TEST_F(ClientTest, C39_NamesBothVersionsOfATrackerThatItDoesNotUnderstand)
{
    Tracker tracker{loop};
    tracker.reply.version = 7;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return !client->trackers().empty() && !client->trackers()[0].cause.empty(); }));
    EXPECT_THAT(client->trackers()[0].cause, testing::AllOf(HasSubstr("version 7"), HasSubstr("this program 1")));
    EXPECT_TRUE(replies.empty());
}

TEST_F(ClientTest, TriesAgainWhatFails_WithoutAStorm)
{
    Tracker tracker{loop};
    tracker.status = 503;
    start({tracker.url()});
    ASSERT_TRUE(run_until(loop, [&] { return !client->trackers().empty() && !client->trackers()[0].cause.empty(); }));
    EXPECT_THAT(client->trackers()[0].cause, HasSubstr("503"));
    const net::Handle push = loop.every(1ms, [&] { client->beat_now(); });
    tracker.status = 200;
    const TimePoint begin = Clock::now();
    ASSERT_TRUE(run_until(loop, [&] { return client->trackers()[0].answered; }));
    EXPECT_GE(Clock::now() - begin, 200ms);
}

TEST_F(ClientTest, LeavesWithALastBeat_AndWaitsForADeadTrackerOneSecondAtMost)
{
    Tracker tracker{loop};
    const net::test::RawServer hole;
    start({tracker.url(), "http://127.0.0.1:" + std::to_string(hole.port())});
    ASSERT_TRUE(run_until(loop, [&] { return tracker.beats.size() == 2; }));
    const TimePoint begin = Clock::now();
    bool left = false;
    client->leave([&] { left = true; });
    ASSERT_TRUE(run_until(loop, [&] { return left; }));
    EXPECT_LT(Clock::now() - begin, 3s);
    EXPECT_TRUE(tracker.beats.back().leaving);
    const std::size_t beats = tracker.beats.size();
    client->beat_now();
    bool later = false;
    const net::Handle end = loop.after(500ms, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_EQ(tracker.beats.size(), beats);
}

TEST_F(ClientTest, LeavesAtOnceWhereNobodyIs)
{
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://no.such.name.invalid"}, *this);
    bool left = false;
    client->leave([&] { left = true; });
    EXPECT_TRUE(run_until(loop, [&] { return left; }));
}

TEST_F(ClientTest, GetsAPageWithoutBeating)
{
    Tracker tracker{loop};
    tracker.pages["/api/v1/x"] = {.body = "manifest"};
    client = std::make_unique<Client>(loop, std::vector{tracker.url()}, *this);
    const auto page = get("/api/v1/x");
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_EQ(page.value(), "manifest");
    EXPECT_TRUE(tracker.beats.empty());
}

TEST_F(ClientTest, SaysNotFoundInTheTrackersWords_AndOnlyIfItIsATracker)
{
    Tracker tracker{loop};
    tracker.pages["/none"] = {.status = 404, .content_type = "application/problem+json", .body = R"({"detail":"llama has no tag prod"})"};
    tracker.pages["/html"] = {.status = 404, .content_type = "text/html", .body = "<h1>Not Found</h1>"};
    client = std::make_unique<Client>(loop, std::vector{tracker.url()}, *this);
    const auto none = get("/none");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::not_found);
    EXPECT_EQ(none.error().message, "llama has no tag prod");
    const auto html = get("/html", 300ms);
    ASSERT_FALSE(html);
    EXPECT_EQ(html.error().code, Errc::timed_out);
    EXPECT_THAT(html.error().text(), HasSubstr("HTTP status 404"));
}

TEST_F(ClientTest, C52_FindsTheOneAddressThatAnswers)
{
    Tracker tracker{loop, "[::1]:0"};
    tracker.pages["/x"] = {.body = "here"};
    const net::test::RawServer hole;  // accepts and says nothing
    std::uint16_t dead = 0;
    {
        const net::test::RawServer gone;
        dead = gone.port();
    }
    client = std::make_unique<Client>(loop,
        std::vector<std::string>{
            "http://no.such.name.invalid", "http://127.0.0.1:" + std::to_string(dead), "http://127.0.0.1:" + std::to_string(hole.port()), tracker.url("[::1]")},
        *this);
    const TimePoint begin = Clock::now();
    const auto page = get("/x");
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_LT(Clock::now() - begin, 8s);
}

TEST_F(ClientTest, C52_NamesEveryAddressAndItsCauseWhenNoneAnswers)
{
    const net::test::RawServer hole;
    std::uint16_t dead = 0;
    {
        const net::test::RawServer gone;
        dead = gone.port();
    }
    const std::string hole_at = "127.0.0.1:" + std::to_string(hole.port());
    const std::string dead_at = "127.0.0.1:" + std::to_string(dead);
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://" + hole_at, "http://" + dead_at, "http://no.such.name.invalid:81"}, *this);
    const TimePoint begin = Clock::now();
    const auto page = get("/x", 1500ms);
    EXPECT_LT(Clock::now() - begin, 3s);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Errc::timed_out);
    EXPECT_THAT(page.error().text(), testing::AllOf(HasSubstr(hole_at + ": no answer"), HasSubstr(dead_at), HasSubstr("refused"),
                                         HasSubstr("no.such.name.invalid:81: "), HasSubstr("--tracker")));
}

TEST_F(ClientTest, AsksAgainUntilTheDeadline)
{
    Tracker tracker{loop};
    client = std::make_unique<Client>(loop, std::vector{tracker.url()}, *this);
    const net::Handle cured = loop.every(1ms, [&] {
        if (tracker.asked == 2) tracker.pages["/x"] = {.body = "now"};
    });
    const auto page = get("/x");
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_EQ(page.value(), "now");
}

TEST_F(ClientTest, GivesUpOnRepliesAboveTheLimitInTime)
{
    Tracker tracker{loop};
    tracker.pages["/x"] = {.body = std::string(10'000'000, 'x')};
    client = std::make_unique<Client>(loop, std::vector{tracker.url()}, *this);
    const auto page = get("/x", 700ms);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Errc::timed_out);
    EXPECT_THAT(page.error().text(), HasSubstr("larger than 1000 bytes"));
}

TEST_F(ClientTest, SaysToSetTheTrackerWhereTheDefaultNameIsNone)
{
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://no.such.name.invalid:8080"}, *this);
    const auto page = get("/x", 500ms);
    ASSERT_FALSE(page);
    EXPECT_THAT(page.error().text(), testing::AllOf(HasSubstr("no.such.name.invalid:8080"), HasSubstr("set --tracker")));
}

TEST_F(ClientTest, MayBeDestroyedWithEverythingUnderWay)
{
    Tracker tracker{loop};
    const net::test::RawServer hole;
    holds = true;
    bool called = false;
    start({tracker.url(), "http://127.0.0.1:" + std::to_string(hole.port()), "http://localhost:1"});
    client->get("/x", 100, 10s, [&](const auto&) { called = true; });
    ASSERT_TRUE(run_until(loop, [&] { return !tracker.held.empty(); }));
    client.reset();
    bool later = false;
    const net::Handle end = loop.after(100ms, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_FALSE(called);
}

}  // namespace
}  // namespace shoal::control
