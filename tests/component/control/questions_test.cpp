// What is asked of any tracker that answers.
#include "tests/component/control/client_bench.hpp"

namespace shoal::control {
namespace {

using namespace std::chrono_literals;
using net::test::run_until;
using testing::HasSubstr;

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
    const auto html = get("/html", 1s);
    ASSERT_FALSE(html);
    EXPECT_EQ(html.error().code, Errc::timed_out);
    EXPECT_THAT(html.error().text(), HasSubstr("HTTP status 404"));
}

TEST_F(ClientTest, SaysThatTheStoreIsDamagedInsteadOfAskingUntilTheDeadline_UnlessAnotherTrackerKnowsBetter)
{
    Tracker damaged{loop};
    damaged.pages["/x"] = {.status = 502, .content_type = "application/problem+json", .body = R"({"detail":"tag is damaged: key 'models/m/tags/x'"})"};
    damaged.pages["/html"] = {.status = 502, .content_type = "text/html", .body = "<h1>Bad Gateway</h1>"};  // a proxy's, which passes
    client = std::make_unique<Client>(loop, std::vector{damaged.url()}, *this);
    const auto alone = get("/x");
    ASSERT_FALSE(alone);
    EXPECT_EQ(alone.error().code, Errc::integrity);
    EXPECT_THAT(alone.error().message, HasSubstr("key 'models/m/tags/x'"));
    EXPECT_NE(alone.error().hint, "");
    const auto proxied = get("/html", 1s);
    ASSERT_FALSE(proxied);
    EXPECT_EQ(proxied.error().code, Errc::timed_out);
    Tracker well{loop};
    well.pages["/x"] = {.body = "here"};
    client = std::make_unique<Client>(loop, std::vector{damaged.url(), well.url()}, *this);
    const auto answered = get("/x");
    ASSERT_TRUE(answered) << answered.error().text();
    EXPECT_EQ(answered.value(), "here");
}

TEST_F(ClientTest, C52_FindsTheOneAddressThatAnswers)
{
    Tracker tracker{loop, "[::1]:0"};
    tracker.pages["/x"] = {.body = "here"};
    const net::test::RawServer hole;  // accepts and says nothing
    const net::test::RefusingPort dead;
    client = std::make_unique<Client>(loop,
        std::vector<std::string>{"http://" + net::test::no_name, "http://127.0.0.1:" + std::to_string(dead.number()),
            "http://127.0.0.1:" + std::to_string(hole.port()), tracker.url("[::1]")},
        *this);
    const auto page = get("/x", 8s);
    ASSERT_TRUE(page) << page.error().text();
}

TEST_F(ClientTest, C52_NamesEveryAddressAndItsCauseWhenNoneAnswers)
{
    const net::test::RawServer hole;
    const net::test::RefusingPort dead;
    const std::string hole_at = "127.0.0.1:" + std::to_string(hole.port());
    const std::string dead_at = "127.0.0.1:" + std::to_string(dead.number());
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://" + hole_at, "http://" + dead_at, "http://" + net::test::no_name + ":81"}, *this);
    const auto page = get("/x", 3s);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Errc::timed_out);
    EXPECT_THAT(page.error().text(), testing::AllOf(HasSubstr(hole_at + ": no answer"), HasSubstr(dead_at), HasSubstr("refused"),
                                         HasSubstr(net::test::no_name + ":81: "), HasSubstr("--tracker")));
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

TEST_F(ClientTest, AsksTheNextTrackerWhereABodyIsNoAnswer)
{
    Tracker garbage{loop};
    Tracker good{loop};
    garbage.pages["/x"] = {.body = "nope"};
    good.pages["/x"] = {.body = "right"};
    for (const Errc fault : {Errc::integrity, Errc::malformed}) {
        accept = [fault](const std::string& body) -> Result<void> {
            if (body == "right") return success();
            return failure(fault, "not what was asked for");
        };
        client = std::make_unique<Client>(loop, std::vector{garbage.url(), good.url()}, *this);
        const auto page = get("/x");
        ASSERT_TRUE(page) << page.error().text();
        EXPECT_EQ(page.value(), "right");
    }
    EXPECT_EQ(garbage.asked, 2);
}

TEST_F(ClientTest, SaysWhatIsWrongWithTheBodyWhenNobodyHasABetterOne_AndAsksAgainWhatMayMend)
{
    Tracker garbage{loop};
    garbage.pages["/x"] = {.body = "nope"};
    client = std::make_unique<Client>(loop, std::vector{garbage.url()}, *this);
    accept = [](const std::string&) -> Result<void> { return failure(Errc::integrity, "another digest"); };
    const auto wrong = get("/x");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::integrity);
    accept = [](const std::string&) -> Result<void> { return failure(Errc::malformed, "names nothing"); };
    const auto mends = get("/x", 700ms);
    ASSERT_FALSE(mends);
    EXPECT_EQ(mends.error().code, Errc::timed_out);
    EXPECT_THAT(mends.error().text(), HasSubstr("names nothing"));
    EXPECT_GT(garbage.asked, 2);
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
    client = std::make_unique<Client>(loop, std::vector<std::string>{"http://" + net::test::no_name + ":8080"}, *this);
    const auto page = get("/x", 1s);
    ASSERT_FALSE(page);
    EXPECT_THAT(page.error().text(), testing::AllOf(HasSubstr(net::test::no_name + ":8080"), HasSubstr("set --tracker")));
}

}  // namespace
}  // namespace shoal::control
