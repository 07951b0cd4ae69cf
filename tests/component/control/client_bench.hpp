// A client of the trackers, and scripted trackers, on one loop. For tests of shoal_control.
#pragma once

#include "common/control/client.hpp"
#include "common/core/random.hpp"
#include "tests/component/net/loopback.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::control {

inline RevisionId revision(unsigned n)
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
    std::size_t refused = 0;
    int status = 200;
    int alias_status = 200;
    bool crosses = false;  // answers a newer beat before the one that is held

private:
    std::unique_ptr<net::HttpServer> listen(const std::string& endpoint, const int& answer)
    {
        auto server = net::HttpServer::listen(loop_, endpoint, [this, &answer](const net::Request& request, net::Respond respond) {
            if (answer != 200 && request.method == "POST") {
                ++refused;
                return respond({.status = answer});
            }
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
    std::function<Result<void>(const std::string&)> accept = [](const std::string&) -> Result<void> { return success(); };

    Result<std::string> get(const std::string& target, Duration deadline = std::chrono::seconds{10}, std::size_t limit = 1000)
    {
        std::optional<Result<std::string>> answer;
        client->get({target, limit, deadline, accept}, [&](Result<std::string> got) { answer = std::move(got); });
        EXPECT_TRUE(net::test::run_until(loop, [&] { return answer.has_value(); }));
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

}  // namespace shoal::control
