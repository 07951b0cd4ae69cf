#include "tests/component/net/loopback.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>
#include <vector>

namespace shoal::net {
namespace {

using namespace std::chrono_literals;
using test::run_until;
using test::Socket;
using testing::HasSubstr;

class HttpClientTest : public testing::Test {
protected:
    ClientRequest to(std::uint16_t port, std::string target = "/x")
    {
        ClientRequest request;
        request.host = "127.0.0.1";
        request.port = port;
        request.target = std::move(target);
        return request;
    }
    Result<ClientResponse> send(ClientRequest request)
    {
        std::optional<Result<ClientResponse>> answer;
        const Handle handle = client.send(std::move(request), [&](Result<ClientResponse> got) { answer = std::move(got); });
        if (!run_until(loop, [&] { return answer.has_value(); })) return failure(Errc::internal, "no end");
        return *answer;
    }
    // Answers whatever is asked on the raw server by `bytes`, and keeps the connection open.
    Result<ClientResponse> send_against(const std::string& bytes, std::size_t max_reply = 1000, Duration within = 20s)
    {
        test::RawServer raw;
        std::vector<Socket> accepted;
        const Handle accept = loop.every(1ms, [&] {
            Socket socket = raw.accept();
            if (socket.descriptor() < 0) return;
            socket.send(bytes);
            accepted.push_back(std::move(socket));
        });
        ClientRequest request = to(raw.port());
        request.max_reply = max_reply;
        request.answer_within = within;
        return send(request);
    }
    std::unique_ptr<HttpServer> serve(Handler handler, ServerLimits limits = {})
    {
        auto server = HttpServer::listen(loop, "127.0.0.1:0", std::move(handler), limits);
        EXPECT_TRUE(server);
        return std::move(server.value());
    }

    Loop loop;
    HttpClient client{loop};
};

TEST_F(HttpClientTest, SendsMethodTargetHostTypeAndBody_AndGetsStatusHeadersAndBody)
{
    Request seen;
    const auto server = serve([&seen](const Request& request, const Respond& respond) {
        seen = request;
        respond({.status = 404, .body = "nothing", .headers = {{"X-Thing", "v"}}});
    });
    ClientRequest request = to(test::port_of(server->endpoint()), "/a?b=c");
    request.method = "POST";
    request.host_header = "tracker.example:8080";
    request.content_type = "application/msgpack";
    request.body = "12345";
    const auto answer = send(request);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer.value().status, 404);
    EXPECT_EQ(answer.value().headers.at("x-thing"), "v");
    EXPECT_EQ(answer.value().body, "nothing");
    EXPECT_EQ(seen.method, "POST");
    EXPECT_EQ(seen.query.at("b"), "c");
    EXPECT_EQ(seen.headers.at("host"), "tracker.example:8080");
    EXPECT_EQ(seen.headers.at("content-type"), "application/msgpack");
    EXPECT_EQ(seen.body, "12345");
}

TEST_F(HttpClientTest, UsesAConnectionAgain_AndOpensANewOneWhenTheServerHasClosedIt)
{
    const auto server = serve([](const Request&, const Respond& respond) { respond({.body = "ok"}); }, {.max_connections = 1, .idle = 100ms});
    const std::uint16_t port = test::port_of(server->endpoint());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(send(to(port)));  // a second connection would find no room
    bool later = false;
    const Handle wait = loop.after(200ms, [&] { later = true; });
    ASSERT_TRUE(run_until(loop, [&] { return later; }));
    EXPECT_TRUE(send(to(port)));
}

TEST_F(HttpClientTest, TriesOnceMoreWhenAKeptConnectionIsClosedAtThatMoment)
{
    test::RawServer raw;
    std::vector<Socket> accepted;
    std::size_t asked = 0;
    const Handle serve_raw = loop.every(1ms, [&] {
        Socket socket = raw.accept();
        if (socket.descriptor() >= 0) accepted.push_back(std::move(socket));
        for (std::size_t i = 0; i < accepted.size(); ++i) {
            if (accepted[i].take().empty()) continue;
            if (++asked == 2)
                accepted[i].reset();  // the request has been read, nothing said
            else
                accepted[i].send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    EXPECT_TRUE(send(to(raw.port())));
    EXPECT_TRUE(send(to(raw.port())));
    EXPECT_EQ(asked, 3U);
}

TEST_F(HttpClientTest, RefusesAReplyAboveTheLimit_DeclaredOrNot)
{
    for (const std::string& header :
        {std::string{"Content-Length: 10000000\r\n\r\n"}, std::string{"Transfer-Encoding: chunked\r\n\r\n2000\r\n"}, std::string{"\r\n"}}) {
        const auto answer = send_against("HTTP/1.1 200 OK\r\n" + header + std::string(0x2000, 'x') + "\r\n");
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, Errc::too_large) << answer.error().text();
        EXPECT_THAT(answer.error().text(), HasSubstr("larger than 1000 bytes"));
    }
    const auto header = send_against("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().code, Errc::too_large);
}

TEST_F(HttpClientTest, CallsGarbageMalformed_NamingHostPortAndTarget)
{
    const auto answer = send_against("SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::malformed);
    EXPECT_THAT(answer.error().text(), testing::ContainsRegex("GET: http://127.0.0.1:[0-9]+/x: "));
}

TEST_F(HttpClientTest, GivesUpOnAServerThatNeverAnswers)
{
    const auto answer = send_against("", 1000, 100ms);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::timed_out);
}

TEST_F(HttpClientTest, GivesUpOnAReplyThatDripsInAtTheDeadlineOfTheWhole)
{
    test::RawServer raw;
    std::optional<Socket> accepted;
    const Handle drip = loop.every(10ms, [&] {
        if (!accepted || accepted->descriptor() < 0) accepted.emplace(raw.accept());
        if (accepted->descriptor() >= 0) accepted->send("H");
    });
    const Handle answer_first = loop.after(20ms, [&] {
        if (accepted && accepted->descriptor() >= 0) accepted->send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    });
    ClientRequest request = to(raw.port());
    request.answer_within = 200ms;
    const TimePoint begin = Clock::now();
    const auto answer = send(request);
    ASSERT_FALSE(answer);
    EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(HttpClientTest, CallsAResetOrShortReplyAnIoError)
{
    test::RawServer raw;
    const Handle reset = loop.every(1ms, [&] {
        Socket socket = raw.accept();
        if (socket.descriptor() < 0) return;
        socket.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
    });
    const auto answer = send(to(raw.port()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::io) << answer.error().text();
}

TEST_F(HttpClientTest, SaysThatNobodyListens)
{
    const test::RefusingPort dead;
    const auto answer = send(to(dead.number()));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().text(), HasSubstr("refused"));
}

TEST_F(HttpClientTest, ForgetsARequestWhoseHandleIsGone)
{
    const auto server = serve([](const Request&, const Respond& respond) { respond({.body = "ok"}); });
    const std::uint16_t port = test::port_of(server->endpoint());
    bool called = false;
    Handle dropped = client.send(to(port), [&](const auto&) { called = true; });
    dropped.reset();
    Handle dropped_midway = client.send(to(port), [&](const auto&) { called = true; });
    const Handle later = loop.after({}, [&] { dropped_midway.reset(); });
    EXPECT_TRUE(send(to(port)));
    EXPECT_FALSE(called);
}

TEST_F(HttpClientTest, MayBeDestroyedWithRequestsUnderWay)
{
    const test::RawServer raw;
    bool called = false;
    std::vector<Handle> handles;
    {
        HttpClient brief{loop};
        for (int i = 0; i < 10; ++i) handles.push_back(brief.send(to(raw.port()), [&](const auto&) { called = true; }));
        bool turned = false;
        const Handle turn = loop.after(20ms, [&] { turned = true; });
        ASSERT_TRUE(run_until(loop, [&] { return turned; }));
    }
    bool turned = false;
    const Handle turn = loop.after(20ms, [&] { turned = true; });
    ASSERT_TRUE(run_until(loop, [&] { return turned; }));
    EXPECT_FALSE(called);
}

TEST_F(HttpClientTest, CarriesFiveHundredExchangesAtOnce)
{
    std::vector<Respond> held;
    const auto server = serve([&](const Request&, Respond respond) {
        held.push_back(std::move(respond));
        if (held.size() < 500) return;
        for (const Respond& one : held) one({.body = "ok"});
    });
    std::size_t answered = 0;
    std::vector<Handle> handles;
    for (int i = 0; i < 500; ++i) {
        handles.push_back(client.send(
            to(test::port_of(server->endpoint())), [&](const Result<ClientResponse>& got) { answered += got && got.value().body == "ok" ? 1 : 0; }));
    }
    EXPECT_TRUE(run_until(loop, [&] { return answered == 500; }));
}

TEST(Resolve, GivesAnAddressBackAtOnce_AndTheAddressesOfAName)
{
    Loop loop;
    for (const auto& [host, expected] : {std::pair{"::1", "::1"}, {"127.0.0.1", "127.0.0.1"}, {"localhost", "127.0.0.1"}}) {
        std::optional<Result<std::vector<std::string>>> answer;
        const Handle handle = resolve(loop, host, 10s, [&](auto got) { answer = std::move(got); });
        ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
        ASSERT_TRUE(*answer) << answer->error().text();
        EXPECT_THAT(answer->value(), testing::Contains(expected));
    }
}

TEST(Resolve, SaysWhichNameIsNone)
{
    Loop loop;
    std::optional<Result<std::vector<std::string>>> answer;
    const Handle handle = resolve(loop, test::no_name, 15s, [&](auto got) { answer = std::move(got); });
    ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
    ASSERT_FALSE(*answer);
    EXPECT_THAT(answer->error().text(), HasSubstr(test::no_name));
}

TEST(Resolve, TellsNobodyWhoHasDroppedTheHandle)
{
    Loop loop;
    bool called = false;
    for (const char* host : {"127.0.0.1", "localhost"}) {
        Handle handle = resolve(loop, host, 10s, [&](const auto&) { called = true; });
        handle.reset();
    }
    bool turned = false;
    const Handle turn = loop.after(50ms, [&] { turned = true; });
    ASSERT_TRUE(run_until(loop, [&] { return turned; }));
    EXPECT_FALSE(called);
}

TEST_F(HttpClientTest, WhatIsThrownWhileAnAnswerIsTakenLeavesTheLoop)
{
    const auto server = serve([](const Request&, const Respond& respond) { respond({}); });
    const Handle handle = client.send(to(test::port_of(server->endpoint())), [](const Result<ClientResponse>&) { throw std::runtime_error{"taken badly"}; });
    EXPECT_THROW(run_until(loop, [] { return false; }), std::runtime_error);
}

}  // namespace
}  // namespace shoal::net
