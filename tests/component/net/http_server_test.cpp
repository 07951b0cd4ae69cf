#include "tests/component/net/loopback.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

namespace shoal::net {
namespace {

using namespace std::chrono_literals;
using test::connect_to;
using test::run_until;
using test::Socket;
using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
protected:
    void serve(Handler handler, ServerLimits limits = {})
    {
        auto listening = HttpServer::listen(loop, "127.0.0.1:0", std::move(handler), limits);
        ASSERT_TRUE(listening) << listening.error().text();
        server = std::move(listening.value());
        port = test::port_of(server->endpoint());
    }
    void serve_echo(ServerLimits limits = {})
    {
        serve(
            [this](const Request& request, const Respond& respond) {
                seen = request;
                Response response;
                response.body = request.method + " " + request.path + " " + request.body;
                respond(response);
            },
            limits);
    }
    // All that comes back for `bytes` until `enough` is in it or the server hangs up.
    std::string say(const Socket& socket, const std::string& bytes, const std::string& enough)
    {
        EXPECT_TRUE(socket.send(bytes));
        return hear(socket, enough);
    }
    std::string hear(const Socket& socket, const std::string& enough)
    {
        std::string heard;
        EXPECT_TRUE(run_until(loop, [&] {
            heard += socket.take();
            return heard.find(enough) != std::string::npos || socket.is_over();
        }));
        return heard + socket.take();
    }
    bool hangs_up(const Socket& socket)
    {
        return run_until(loop, [&] {
            (void)socket.take();
            return socket.is_over();
        });
    }

    Loop loop;
    std::unique_ptr<HttpServer> server;
    std::uint16_t port = 0;
    Request seen;
};

TEST_F(HttpServerTest, GivesTheHandlerMethodPathQueryHeadersBodyAndRemoteAddress)
{
    serve_echo();
    const Socket socket = connect_to(port);
    const auto answer = say(socket, "POST /a%2Fb/c?x=1%202&y&x=3 HTTP/1.1\r\nHost: h\r\nX-Thing: v\r\nContent-Length: 4\r\n\r\nbody", "body");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(seen.path, "/a%2Fb/c");
    EXPECT_EQ(seen.query.at("x"), "3");
    EXPECT_EQ(seen.query.at("y"), "");
    EXPECT_EQ(seen.raw_query, "x=1%202&y&x=3");
    EXPECT_EQ(seen.headers.at("x-thing"), "v");
    EXPECT_EQ(seen.body, "body");
    EXPECT_EQ(seen.remote, "127.0.0.1");
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderOnOneConnection)
{
    serve_echo();
    const Socket socket = connect_to(port);
    const auto answer =
        say(socket, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "/3");
    EXPECT_LT(answer.find("GET /1"), answer.find("GET /2"));
    EXPECT_LT(answer.find("GET /2"), answer.find("GET /3"));
    EXPECT_TRUE(hangs_up(socket));
}

TEST_F(HttpServerTest, AnswersHeadWithTheLengthAndNoBody)
{
    serve_echo();
    const Socket socket = connect_to(port);
    EXPECT_THAT(say(socket, "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n", "GET /y"),
        testing::AllOf(HasSubstr("Content-Length: 8\r\n\r\nHTTP/1.1 200"), HasSubstr("GET /y")));
}

TEST_F(HttpServerTest, LetsAClientThatExpectsIt_Continue)
{
    serve_echo();
    const Socket socket = connect_to(port);
    EXPECT_THAT(
        say(socket, "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", "\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue\r\n"));
    EXPECT_THAT(say(socket, "hi", "hi"), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, RefusesABodyAboveTheLimitWith413_DeclaredOrNot)
{
    serve_echo({.max_body = 1000});
    const Socket declared = connect_to(port);
    EXPECT_THAT(say(declared, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'), "\r\n\r\n"), StartsWith("HTTP/1.1 413"));
    EXPECT_TRUE(hangs_up(declared));
    const Socket chunked = connect_to(port);
    EXPECT_THAT(say(chunked, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(0x800, 'x'), "\r\n\r\n"),
        StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServerTest, RefusesAHeaderAboveTheLimitWith431)
{
    serve_echo({.max_header = 1024});
    const Socket socket = connect_to(port);
    EXPECT_THAT(say(socket, "GET / HTTP/1.1\r\nX: " + std::string(4000, 'x') + "\r\n\r\n", "\r\n\r\n"), StartsWith("HTTP/1.1 431"));
    EXPECT_TRUE(hangs_up(socket));
}

TEST_F(HttpServerTest, RefusesGarbageWith400)
{
    serve_echo();
    for (const std::string& garbage : {std::string{"\x16\x03\x01\x02\x00\x01garbage\r\n\r\n"}, std::string{"GET nowhere HTTP/1.1\r\nHost: h\r\n\r\n"},
             std::string{"GET /?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n"}, std::string{"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}}) {
        const Socket socket = connect_to(port);
        EXPECT_THAT(say(socket, garbage, "\r\n\r\n"), StartsWith("HTTP/1.1 400")) << garbage;
        EXPECT_TRUE(hangs_up(socket));
    }
}

TEST_F(HttpServerTest, AnswersARequestThatDripsInWith408AtTheDeadlineOfTheWhole)
{
    serve_echo({.request = 200ms});
    const Socket socket = connect_to(port);
    const Handle drip = loop.every(20ms, [&] { socket.send("G"); });
    ASSERT_TRUE(socket.send("GET /"));
    EXPECT_THAT(hear(socket, "\r\n\r\n"), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpServerTest, HangsUpOnAConnectionThatIsIdle)
{
    serve_echo({.idle = 50ms});
    const Socket socket = connect_to(port);
    EXPECT_TRUE(hangs_up(socket));
}

TEST_F(HttpServerTest, HangsUpOnAReaderThatDoesNotRead)
{
    serve([](const Request&, const Respond& respond) { respond({.body = std::string(8'000'000, 'x')}); },
        {.max_connections = 1, .request = 50ms, .slowest_reader = 1U << 30U});
    const Socket deaf = connect_to(port);
    ASSERT_TRUE(deaf.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    const Socket next = connect_to(port);  // gets the place of the deaf one
    EXPECT_THAT(say(next, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, HoldsAnAnswerUntilItIsGiven)
{
    Respond later;
    serve([&later](const Request&, Respond respond) { later = std::move(respond); });
    const Socket socket = connect_to(port);
    ASSERT_TRUE(socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    ASSERT_TRUE(run_until(loop, [&] { return static_cast<bool>(later); }));
    const Handle news = loop.after(50ms, [&] { later({.body = "news"}); });
    EXPECT_THAT(hear(socket, "news"), HasSubstr("news"));
    const Respond first = std::exchange(later, nullptr);
    first({.body = "again"});  // does nothing
    ASSERT_TRUE(socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    ASSERT_TRUE(run_until(loop, [&] { return static_cast<bool>(later); }));
    first({.body = "again"});
    later({.body = "second"});
    EXPECT_THAT(hear(socket, "second"), testing::Not(HasSubstr("again")));
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsAlsoWhenTheFirstIsHeld)
{
    std::vector<Respond> held;
    serve([&held](const Request&, Respond respond) { held.push_back(std::move(respond)); });
    const Socket socket = connect_to(port);
    ASSERT_TRUE(socket.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"));
    ASSERT_TRUE(run_until(loop, [&] { return held.size() == 1; }));
    held[0]({.body = "one"});
    ASSERT_TRUE(run_until(loop, [&] { return held.size() == 2; }));
    held[1]({.body = "two"});
    EXPECT_THAT(hear(socket, "two"), HasSubstr("one"));
}

TEST_F(HttpServerTest, FreesAHeldAnswerWhoseClientHasClosedOrReset)
{
    std::vector<Respond> held;
    serve([&held](const Request&, Respond respond) { held.push_back(std::move(respond)); }, {.max_connections = 1});
    for (std::size_t round = 1; round <= 4; ++round) {  // each needs the place of the one before
        Socket socket = connect_to(port);
        ASSERT_TRUE(socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
        ASSERT_TRUE(run_until(loop, [&] { return held.size() == round; }));
        if (round % 2 == 0) socket.reset();
    }
    for (const Respond& respond : held) respond({.body = "to nobody"});
    const Socket last = connect_to(port);
    ASSERT_TRUE(last.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_TRUE(run_until(loop, [&] { return held.size() == 5; }));
}

TEST_F(HttpServerTest, NoticesThatAClientLeavesLongAfterItAsked)
{
    Respond later;
    serve([&later](const Request&, Respond respond) { later = std::move(respond); }, {.max_connections = 1, .request = 10ms});
    Socket socket = connect_to(port);
    ASSERT_TRUE(socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    bool left = false;
    const Handle leave = loop.after(50ms, [&] {
        socket.reset();
        left = true;
    });
    ASSERT_TRUE(run_until(loop, [&] { return left; }));
    const Respond first = std::exchange(later, nullptr);
    const Socket next = connect_to(port);
    ASSERT_TRUE(next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_TRUE(run_until(loop, [&] { return static_cast<bool>(later); }));
}

TEST_F(HttpServerTest, AnswersFor_AHandlerThatForgetsTo)
{
    serve([](const Request&, const Respond&) {});
    const Socket socket = connect_to(port);
    EXPECT_THAT(say(socket, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\n"), StartsWith("HTTP/1.1 500"));
}

TEST_F(HttpServerTest, AnswersFor_AHandlerThatTakesTooLong)
{
    Respond later;
    serve([&later](const Request&, Respond respond) { later = std::move(respond); }, {.answer = 50ms});
    const Socket socket = connect_to(port);
    EXPECT_THAT(say(socket, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\n"), StartsWith("HTTP/1.1 503"));
    later({.body = "late"});
}

TEST_F(HttpServerTest, TakesNoMoreBodiesAtOnceThanItHasRoomFor)
{
    serve_echo({.max_body = 1000, .max_bodies = 1500});
    const Socket first = connect_to(port);
    ASSERT_TRUE(first.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx"));
    const Socket second = connect_to(port);
    const std::string post = "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'y');
    ASSERT_TRUE(run_until(loop, [&] {
        const Socket probe = connect_to(port);
        return say(probe, post, "\r\n\r\n").starts_with("HTTP/1.1 503");
    }));
    EXPECT_THAT(say(first, std::string(999, 'x'), "\r\n\r\n"), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(say(second, post, "\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, ServesFiveHundredConnectionsAtOnce)
{
    std::vector<Respond> held;
    serve([&held](const Request&, Respond respond) { held.push_back(std::move(respond)); });
    std::vector<Socket> sockets;
    for (int i = 0; i < 500; ++i) {
        sockets.push_back(connect_to(port));
        ASSERT_TRUE(sockets.back().send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    }
    ASSERT_TRUE(run_until(loop, [&] { return held.size() == 500; }));
    for (const Respond& respond : held) respond({.body = "all"});
    std::size_t answered = 0;
    for (const Socket& socket : sockets) answered += hear(socket, "all").ends_with("all") ? 1 : 0;
    EXPECT_EQ(answered, 500U);
}

TEST_F(HttpServerTest, LetsGoOfEverybodyWhenItEnds)
{
    Respond later;
    serve([&later](const Request&, Respond respond) { later = std::move(respond); });
    const Socket idle = connect_to(port);
    const Socket held = connect_to(port);
    ASSERT_TRUE(held.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    ASSERT_TRUE(run_until(loop, [&] { return static_cast<bool>(later); }));
    server.reset();
    later({.body = "too late"});
    EXPECT_TRUE(hangs_up(held));
    EXPECT_TRUE(hangs_up(idle));
    EXPECT_LT(connect_to(port).descriptor(), 0);
}

TEST_F(HttpServerTest, SaysWhichAddressItCannotHave)
{
    serve_echo();
    const auto taken = HttpServer::listen(loop, server->endpoint(), {});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Errc::not_allowed);
    EXPECT_THAT(taken.error().text(), HasSubstr(server->endpoint()));
    for (const char* wrong : {"", "8080", "localhost:80", "1.2.3.4:", "::1:80", "1.2.3.4:65536", ":x", "[::1]"}) {
        const auto refused = HttpServer::listen(loop, wrong, {});
        ASSERT_FALSE(refused) << wrong;
        EXPECT_EQ(refused.error().code, Errc::invalid) << wrong;
    }
}

TEST_F(HttpServerTest, ListensOnEveryAddressByDefault)
{
    auto listening = HttpServer::listen(loop, ":0", [](const Request& request, const Respond& respond) { respond({.body = "from " + request.remote}); });
    ASSERT_TRUE(listening);
    const Socket socket = connect_to(test::port_of(listening.value()->endpoint()));
    EXPECT_THAT(say(socket, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "from"), HasSubstr("from 127.0.0.1"));
}

TEST_F(HttpServerTest, WhatAHandlerThrowsLeavesTheLoop)
{
    serve([](const Request&, const Respond&) { throw std::runtime_error{"handled badly"}; });
    const Socket socket = connect_to(port);
    socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THROW(run_until(loop, [] { return false; }), std::runtime_error);
}

}  // namespace
}  // namespace shoal::net
