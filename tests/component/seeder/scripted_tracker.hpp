// A tracker that wants what the test says, and knows one peer: real HTTP on loopback, beats kept for the test to look at. On the loop.
#pragma once

#include "common/core/random.hpp"
#include "common/net/http.hpp"
#include "common/wire/beat.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace shoal::seeder {

class ScriptedTracker {
public:
    explicit ScriptedTracker(net::Loop& loop) : loop_{loop}
    {
        auto server =
            net::HttpServer::listen(loop, "127.0.0.1:0", [this](const net::Request& request, const net::Respond& respond) { answer(request, respond); });
        EXPECT_TRUE(server) << server.error().text();
        server_ = std::move(server.value());
    }

    std::set<RevisionId> wanted;
    std::optional<wire::Neighbour> peer;  // in every swarm
    std::optional<wire::Beat> last;       // the seeder's last full beat
    bool left = false;                    // it said goodbye

    [[nodiscard]] std::string url() const { return "http://" + server_->endpoint(); }
    // What the seeder said of a revision, last.
    [[nodiscard]] const wire::Holding* holding(const RevisionId& revision) const
    {
        if (!last) return nullptr;
        for (const wire::Holding& each : last->holdings) {
            if (each.revision == revision) return &each;
        }
        return nullptr;
    }
    [[nodiscard]] bool said(const RevisionId& revision, wire::HoldState state) const
    {
        const wire::Holding* said = holding(revision);
        return said != nullptr && said->state == state;
    }

private:
    void answer(const net::Request& request, const net::Respond& respond)
    {
        const auto beat = wire::decode_beat(as_bytes(request.body));
        if (request.path != "/control/v1/beat" || !beat) {
            ADD_FAILURE() << request.method << " " << request.path;
            return respond({400, "text/plain", "", {}});
        }
        left = left || beat.value().leaving;
        wire::Reply reply;
        reply.tracker = id_;
        reply.beat_ms = 50;
        reply.need_full = !beat.value().full;  // this one keeps nothing
        if (beat.value().full && !beat.value().leaving) last = beat.value();
        for (const RevisionId& revision : wanted) {
            if (holding(revision) == nullptr)
                reply.wishes.push_back({revision, "llama"});
            else
                reply.swarms.push_back({revision, "llama", peer ? std::vector{*peer} : std::vector<wire::Neighbour>{}, "", 1, {}});
        }
        respond({200, "application/msgpack", wire::encode(reply), {}});
    }

    net::Loop& loop_;
    std::unique_ptr<net::HttpServer> server_;
    TrackerId id_ = random_id<TrackerId>();
};

}  // namespace shoal::seeder
