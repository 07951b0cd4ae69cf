// The tracker's HTTP server: beats, the read side of the API, announces, metrics and probes over one switchboard. Wires; decides nothing. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/metrics.hpp"
#include "tracker/api.hpp"
#include "tracker/beats.hpp"
#include "tracker/gauges.hpp"
#include "tracker/library.hpp"
#include "tracker/stock_routes.hpp"
#include "tracker/switchboard.hpp"
#include "tracker/topology.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace shoal::tracker {

struct ServerOptions {
    std::string listen = ":8080";
    Duration beat = std::chrono::seconds{3};
    Topology topology;
    StockClients stock_clients = StockClients::refused;
    OriginTerms origin;
    std::uint64_t seed = 0;  // of the random part of the hand-out
    std::size_t cache_bytes = 64U << 20U;
    std::function<TimePoint()> now = Clock::now;
};

class Server {
public:
    static Result<std::unique_ptr<Server>> open(net::Loop& loop, objectstore::ObjectStore& store, ServerOptions options);

    [[nodiscard]] std::string endpoint() const { return http_->endpoint(); }
    void when_ready(std::function<void(const Result<void>&)> done) { first_answer_ = std::move(done); }  // the store's first answer: served, or what is wrong
    void tick();  // what time alone brings: processes gone silent, held replies that are due. Comes by itself four times a second

private:
    Server(net::Loop& loop, objectstore::ObjectStore& store, ServerOptions options);
    void serve(const net::Request& request, net::Respond respond);
    void get(const net::Request& request, const net::Respond& respond);
    void probe_store();
    [[nodiscard]] net::Response ready() const;

    std::function<TimePoint()> now_;
    obs::Metrics metrics_;
    Switchboard board_;
    Library library_;
    Beats beats_;
    StockRoutes stock_;
    Api api_;
    Gauges gauges_;
    Result<void> store_answers_;
    std::function<void(const Result<void>&)> first_answer_;
    net::Handle ticks_, probes_;
    std::unique_ptr<net::HttpServer> http_;
};

}  // namespace shoal::tracker
