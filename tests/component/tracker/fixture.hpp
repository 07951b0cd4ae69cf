// A tracker in this process, its store, and a client that beats and asks over real HTTP. Time goes on, and jumps when told.
#pragma once

#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/wire/beat.hpp"
#include "tests/component/net/loopback.hpp"
#include "tests/component/seeder/shelf.hpp"
#include "tests/unit/tracker/beats.hpp"
#include "tracker/server.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace shoal::tracker {

class TrackerTest : public ::testing::Test {
protected:
    using Answer = Result<net::ClientResponse>;

    // A request on its way.
    struct Asked {
        std::optional<Answer> answer;
        net::Handle handle;
        [[nodiscard]] wire::Reply reply() const { return wire::decode_reply(as_bytes(answer->value().body)).value(); }
    };

    void start(StockClients stock = StockClients::refused)
    {
        ServerOptions options;
        options.listen = "127.0.0.1:0";
        options.beat = std::chrono::seconds{3};
        options.stock_clients = stock;
        options.topology = Topology::parse("10.0.0.0/8 zone-a r1\n", "t").value();
        options.now = [this] { return Clock::now() + jumped; };
        server = Server::open(loop, *store, std::move(options)).value();
    }
    void jump(Duration by)
    {
        jumped += by;
        server->tick();
    }

    std::shared_ptr<Asked> send(const std::string& method, const std::string& target, std::string body = {})
    {
        net::ClientRequest request;
        request.method = method;
        request.host = "127.0.0.1";
        request.port = net::test::port_of(server->endpoint());
        request.target = target;
        request.content_type = body.empty() ? "" : "application/msgpack";
        request.body = std::move(body);
        auto asked = std::make_shared<Asked>();
        asked->handle = client.send(std::move(request), [asked = asked.get()](Answer answer) { asked->answer = std::move(answer); });
        return asked;
    }
    bool wait(const std::shared_ptr<Asked>& asked)
    {
        return net::test::run_until(loop, [&] { return asked->answer.has_value(); }) && asked->answer->has_value();
    }
    net::ClientResponse get(const std::string& target)
    {
        const auto asked = send("GET", target);
        EXPECT_TRUE(wait(asked)) << target;
        return asked->answer->value();
    }
    nlohmann::json get_json(const std::string& target) { return nlohmann::json::parse(get(target).body); }

    // Answered at once.
    wire::Reply beat(const wire::Beat& beat)
    {
        const auto asked = send("POST", "/control/v1/beat", wire::encode(beat));
        EXPECT_TRUE(wait(asked));
        return asked->reply();
    }
    // Its reply may be held for 3 s.
    std::shared_ptr<Asked> hold(wire::Beat beat)
    {
        beat.wait_ms = 3000;
        return send("POST", "/control/v1/beat", wire::encode(beat));
    }
    // Until all that was sent has been taken: what the server has, it has taken in order.
    void settle() { get("/livez"); }

    seeder::Shelf shelf;
    std::unique_ptr<objectstore::ObjectStore> store = objectstore::open_store(shelf.url()).value();
    net::Loop loop;
    Duration jumped{};
    std::unique_ptr<Server> server;
    net::HttpClient client{loop};
};

}  // namespace shoal::tracker
