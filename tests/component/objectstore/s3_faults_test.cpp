#include "tests/component/objectstore/s3_faults.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>

namespace shoal::objectstore {
namespace {

TEST_F(S3Faults, C12_WaitsAsToldAndThenFinishes)
{
    Stub stub{{{answer("503 Slow Down", "", "Retry-After: 30\r\n")}, {good}}};
    EXPECT_EQ(range(*store(stub.url())).value(), "2345");
    EXPECT_GE(time.waited, std::chrono::seconds{30});
    EXPECT_EQ(stub.requests().size(), 2U);
}

TEST_F(S3Faults, C12_IsNotAskedMoreOftenThanPausesLetAndGivesUpByItsDeadline)
{
    Stub stub{{{problem("503 Slow Down", "SlowDown")}}};
    const auto read = range(*store(stub.url()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::timed_out);
    names(read.error(), {"s3://bucket", "the key", "503", "SlowDown", "attempts"});
    EXPECT_LE(time.waited, std::chrono::seconds{61});
    EXPECT_GE(time.waited, std::chrono::seconds{50});
    EXPECT_LT(stub.requests().size(), 40U);
}

TEST_F(S3Faults, ARetryAfterBeyondTheDeadlineIsNotWaitedFor)
{
    Stub stub{{{answer("503 Slow Down", "", "Retry-After: 3600\r\n")}}};
    EXPECT_EQ(range(*store(stub.url())).error().code, Errc::timed_out);
    EXPECT_EQ(stub.requests().size(), 1U);
}

TEST_F(S3Faults, C13_WhatIsNotTheRangeIsTriedAgainAndNeverTaken)
{
    const std::string cut = "HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\nContent-Range: bytes 2-5/10\r\nConnection: close\r\n\r\n234";
    const std::vector<Answer> bad{{""}, {"HTTP/1.1 206 Part"}, {cut}, {answer("200 OK", "0123456789")},
        {answer("206 Partial Content", "0123", "Content-Range: bytes 0-3/10\r\n")}, {answer("206 Partial Content", "23456", "Content-Range: bytes 2-6/10\r\n")},
        {answer("206 Partial Content", "2345")}, {answer("206 Partial Content", "23", "Content-Range: bytes 2-3/10\r\n")}, {answer("500 Oops")},
        {answer("429 Too Many")}, {answer("502 Bad")}, {answer("504 Late")}};
    for (const Answer& wrong : bad) {
        Stub once{{wrong, {good}}};
        const auto read = range(*store(once.url()));
        ASSERT_TRUE(read) << wrong.bytes << ": " << read.error().text();
        EXPECT_EQ(read.value(), "2345") << wrong.bytes;
        EXPECT_EQ(once.requests().size(), 2U) << wrong.bytes;
        Stub always{{wrong}};
        const auto never = range(*store(always.url()));
        ASSERT_FALSE(never) << wrong.bytes;
        EXPECT_EQ(never.error().code, Errc::timed_out) << never.error().text();
        EXPECT_LT(always.requests().size(), 60U);
    }
}

TEST_F(S3Faults, TheWholeObjectServesForItsFirstBytes)
{
    Stub stub{{{answer("200 OK", "0123456789")}}};
    std::string out(4, '?');
    ASSERT_TRUE(store(stub.url())->get_range("key", 0, std::as_writable_bytes(std::span{out})));
    EXPECT_EQ(out, "0123");
}

TEST_F(S3Faults, AnObjectThatEndsTooSoonIsCut)
{
    for (const Answer& told : {Answer{problem("416 Range", "InvalidRange", "Content-Range: bytes */3\r\n")},
             Answer{answer("206 Partial Content", "2", "Content-Range: bytes 2-2/3\r\n")}, Answer{answer("200 OK", "012")}}) {
        Stub stub{{told}};
        const auto read = range(*store(stub.url()));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, Errc::integrity);
        names(read.error(), {"the key", "at least 6 bytes, found 3"});
        EXPECT_EQ(stub.requests().size(), 1U);
    }
}

TEST_F(S3Faults, C14_AnotherVersionIsSeenEvenIfTheStoreIgnoresTheQuestion)
{
    Stub stub{{{good}}};
    const auto read = range(*store(stub.url()), Version{"v0"});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::changed);
    EXPECT_EQ(count(stub.requests().at(0), "if-match: \"v0\"\r\n"), 1U) << stub.requests().at(0);
}

TEST_F(S3Faults, AStallIsGivenUpAndTriedAgain)
{
    // Nothing more, and a byte every now and then.
    for (const Then then : {Then::silence, Then::drip}) {
        const std::string start = "HTTP/1.1 206 Partial Content\r\nContent-Length: 400\r\nContent-Range: bytes 0-399/400\r\n\r\n2";
        Stub stub{{{start, then}, {answer("206 Partial Content", std::string(400, 'x'), "Content-Range: bytes 0-399/400\r\n")}}};
        S3Limits limits;
        limits.stall = std::chrono::seconds{1};
        std::string out(400, '?');
        const auto read = store(stub.url(), limits)->get_range("key", 0, std::as_writable_bytes(std::span{out}));
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(out, std::string(400, 'x'));
        EXPECT_EQ(stub.requests().size(), 2U);
    }
}

TEST_F(S3Faults, ACallEndsSoonWhenNothingIsToGoOn)
{
    std::atomic<bool> keep_going{true};
    const S3Clock real = S3Clock::real([&keep_going] { return keep_going.load(); });
    // In a pause that was asked for, and in the middle of an answer that does not come.
    for (const Answer& told : {Answer{answer("503 Slow Down", "", "Retry-After: 30\r\n")}, Answer{"HTTP/1.1 206", Then::silence}}) {
        keep_going = true;
        Stub stub{[&](const std::string&, std::size_t) {
            keep_going = false;
            return told;
        }};
        const TimePoint before = Clock::now();
        const auto read = range(*store(stub.url(), {}, {}, &real));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, Errc::interrupted) << read.error().text();
        EXPECT_LT(Clock::now() - before, std::chrono::seconds{4});
    }
}

TEST_F(S3Faults, AConnectionIsUsedAgainAlsoAfterAnError)
{
    Stub stub{[this](const std::string&, std::size_t n) { return kept_alive(n % 3 == 1 ? problem("503 Slow Down", "SlowDown") : good); }};
    const auto tested = store(stub.url());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(range(*tested).value(), "2345");
    EXPECT_EQ(stub.requests().size(), 15U);
    EXPECT_EQ(stub.connections(), 1U);
}

TEST_F(S3Faults, TheSessionsTokenIsSentAndSigned)
{
    Stub stub{{{good}}};
    ASSERT_TRUE(range(*store(stub.url())));
    const std::string request = stub.requests().at(0);
    EXPECT_EQ(count(request, "x-amz-security-token: tokentoken\r\n"), 1U) << request;
    EXPECT_NE(request.find("SignedHeaders=", 0), std::string::npos);
    EXPECT_NE(request.find("x-amz-security-token", request.find("SignedHeaders=")), std::string::npos) << request;
    EXPECT_EQ(request.find(secret), std::string::npos);
}

class ProxyVariables {
public:
    explicit ProxyVariables(std::map<std::string, std::string> values) : values_{std::move(values)}
    {
        for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~ProxyVariables()
    {
        for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
    }
    ProxyVariables(const ProxyVariables&) = delete;
    ProxyVariables& operator=(const ProxyVariables&) = delete;

private:
    std::map<std::string, std::string> values_;
};

TEST_F(S3Faults, AProxyIsAskedUnlessTheHostIsExempt)
{
    Stub proxy{[this](const std::string& request, std::size_t) { return Answer{request.starts_with("CONNECT") ? answer("403 Forbidden") : good}; }};
    {
        const ProxyVariables set{{{"http_proxy", proxy.url()}, {"HTTPS_PROXY", proxy.url()}}};
        EXPECT_EQ(range(*store("http://s3.invalid")).value(), "2345");
        EXPECT_TRUE(proxy.requests().back().starts_with("GET http://s3.invalid/bucket/the%20key HTTP")) << proxy.requests().back();
        EXPECT_FALSE(range(*store("https://s3.invalid")));
        EXPECT_TRUE(proxy.requests().back().starts_with("CONNECT s3.invalid:443 HTTP")) << proxy.requests().back();
    }
    const std::size_t before = proxy.requests().size();
    const ProxyVariables set{{{"http_proxy", proxy.url()}, {"NO_PROXY", "127.0.0.1"}}};
    Stub own{{{good}}};
    EXPECT_EQ(range(*store(own.url())).value(), "2345");
    EXPECT_EQ(own.requests().size(), 1U);
    EXPECT_EQ(proxy.requests().size(), before);
}

TEST_F(S3Faults, AProxyThatCannotBeUsedIsSaidWithoutItsPassword)
{
    for (const char* url : {"ftp://user:verysecretverysecretverysecret@proxy", "http://user:verysecretverysecretverysecret@pro xy"}) {
        const ProxyVariables set{{{"HTTPS_PROXY", url}}};
        const auto read = range(*store("https://s3.invalid"));
        ASSERT_FALSE(read) << url;
        names(read.error(), {"https://s3.invalid", "proxy"});
    }
}

TEST_F(S3Faults, ABucketOfAnotherRegionIsSaidWithItsRegion)
{
    Stub stub{{{problem("301 Moved Permanently", "PermanentRedirect", "x-amz-bucket-region: eu-west-3\r\n")}}};
    const auto read = range(*store(stub.url()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::invalid);
    names(read.error(), {"301", "the key", "AWS_REGION to eu-west-3"});
    EXPECT_EQ(stub.requests().size(), 1U);
}

TEST_F(S3Faults, APermissionThatLacksOnOneKeyNamesItAndIsNotAskedForAgain)
{
    Stub stub{{{problem("403 Forbidden", "AccessDenied")}}};
    const auto read = range(*store(stub.url()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::not_allowed);
    names(read.error(), {"the key", "403", "AccessDenied"});
    EXPECT_EQ(stub.requests().size(), 1U);
}

TEST_F(S3Faults, WhatIsForbiddenToAHeadIsToldToo)
{
    Stub stub{[](const std::string& request, std::size_t) {
        const std::string told = problem("403 Forbidden", "AccessDenied");
        return Answer{request.starts_with("HEAD") ? told.substr(0, told.find("\r\n\r\n") + 4) : told};
    }};
    const auto info = store(stub.url())->head("the key");
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().code, Errc::not_allowed);
    names(info.error(), {"the key", "403 AccessDenied"});
}

TEST_F(S3Faults, ARedirectIsFollowedOnTheSameHostAlone)
{
    std::string url;
    Stub stub{[&](const std::string&, std::size_t n) {
        return n == 0 ? Answer{answer("307 Moved", "", "Location: " + url + "/elsewhere/the%20key\r\n")} : Answer{good};
    }};
    url = stub.url();
    EXPECT_EQ(range(*store(stub.url())).value(), "2345");
    EXPECT_TRUE(stub.requests().at(1).starts_with("GET /elsewhere/the%20key HTTP")) << stub.requests().at(1);

    Stub thief{{{good}}};
    Stub leads_away{{{answer("307 Moved", "", "Location: http://localhost" + thief.url().substr(16) + "/\r\n")}}};
    EXPECT_FALSE(range(*store(leads_away.url())));
    EXPECT_TRUE(thief.requests().empty());

    Stub circle{[&](const std::string&, std::size_t) { return Answer{answer("307 Moved", "", "Location: /\r\n")}; }};
    EXPECT_FALSE(range(*store(circle.url())));
}

TEST_F(S3Faults, AWrongClockIsSetRightByTheStoresOnce)
{
    const std::string skewed = problem("403 Forbidden", "RequestTimeTooSkewed", "Date: Wed, 15 Nov 2023 00:00:00 GMT\r\n");
    Stub stub{{{skewed}, {good}}};
    EXPECT_EQ(range(*store(stub.url())).value(), "2345");
    EXPECT_NE(stub.requests().at(1).find("20231115T000000Z"), std::string::npos) << stub.requests().at(1);
    Stub never{{{skewed}}};
    const auto read = range(*store(never.url()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::not_allowed);
    names(read.error(), {"RequestTimeTooSkewed", "clock"});
    EXPECT_EQ(never.requests().size(), 2U);
}

TEST_F(S3Faults, C15_KeysThatEndAreReadAnewOnce)
{
    std::string directory = testing::TempDir() + "shoal-keys-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string file = directory + "/credentials";
    const auto write = [&file](const std::string& id) {
        std::ofstream{file} << "[default]\naws_access_key_id = " << id << "\naws_secret_access_key = " << secret << "\n";
    };
    write("OLDKEY");
    const std::string ended = problem("403 Forbidden", "ExpiredToken");
    const std::map<std::string, std::string> from_file{{"AWS_ACCESS_KEY_ID", ""}, {"AWS_SECRET_ACCESS_KEY", ""}, {"AWS_SHARED_CREDENTIALS_FILE", file}};
    Stub stub{[&](const std::string& request, std::size_t) {
        if (request.find("NEWKEY") != std::string::npos) return Answer{good};
        write("NEWKEY");
        return Answer{ended};
    }};
    EXPECT_EQ(range(*store(stub.url(), {}, from_file)).value(), "2345");
    EXPECT_EQ(stub.requests().size(), 2U);
    Stub never{{{ended}}};
    const auto read = range(*store(never.url(), {}, from_file));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::not_allowed);
    EXPECT_EQ(never.requests().size(), 2U);
    std::filesystem::remove_all(directory);
}

TEST_F(S3Faults, AnEndpointThatIsNotThereIsNamed)
{
    const auto refused = range(*store("http://127.0.0.1:1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::timed_out);
    names(refused.error(), {"http://127.0.0.1:1", "the key", "AWS_ENDPOINT_URL"});
    EXPECT_LE(time.waited, std::chrono::seconds{21});
    const auto unknown = range(*store("http://no-such-host.invalid"));
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Errc::timed_out);
    names(unknown.error(), {"no-such-host.invalid"});
}

TEST_F(S3Faults, AnEndpointThatGoesAwayAfterItWasBusyMayComeBackToo)
{
    auto busy = std::make_unique<Stub>(std::vector<Answer>{{answer("503 Slow Down", "", "Retry-After: 25\r\n")}});
    const S3Clock clock = time.clock();
    const S3Clock leaves{clock.now, clock.time_of_day, [&](Duration pause) {
                             busy.reset();
                             clock.pause(pause);
                         }};
    EXPECT_EQ(range(*store(busy->url(), {}, {}, &leaves)).error().code, Errc::timed_out);
    EXPECT_GE(time.waited, std::chrono::seconds{35}) << "it was not waited for once it could not be reached";
}

TEST_F(S3Faults, AStoreThatListsTheSameAgainIsNotListedForEver)
{
    Stub stub{{{listing({"a", "b"}, true)}}};
    const auto tested = store(stub.url());
    EXPECT_EQ(tested->list("", "", 2).value().next, "b");
    const auto again = tested->list("", "b", 2);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Errc::io);
    Stub mixed{{{listing({"b", "a"}, true)}}};
    EXPECT_EQ(store(mixed.url())->list("", "", 2).error().code, Errc::io);
}

TEST_F(S3Faults, TheKeyThatStandsForThePrefixItselfIsNotListed)
{
    Stub stub{{{listing({"m/a"}, false)}}};
    EXPECT_EQ(store(stub.url(), {}, {}, nullptr, "m/")->list("", "", 1).value().objects.at(0).key, "a");
    EXPECT_NE(stub.requests().at(0).find("&start-after=m%2F "), std::string::npos) << stub.requests().at(0);
}

}  // namespace
}  // namespace shoal::objectstore
