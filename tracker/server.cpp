#include "tracker/server.hpp"

#include "common/obs/log.hpp"
#include "tracker/http_answers.hpp"

#include <utility>

namespace shoal::tracker {
namespace {

constexpr Duration tick_period = std::chrono::milliseconds{250};
constexpr Duration probe_period = std::chrono::seconds{5};

net::ServerLimits limits()
{
    net::ServerLimits limits;
    limits.max_body = wire::max_beat_bytes;
    return limits;
}

net::Response not_that_method(const char* allowed)
{
    net::Response response = problem(405, "Method not allowed", std::string{"expected "} + allowed);
    response.headers["Allow"] = allowed;
    return response;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(net::Loop& loop, objectstore::ObjectStore& store, ServerOptions options)
{
    const std::string listen = options.listen;
    std::unique_ptr<Server> server{new Server{loop, store, std::move(options)}};
    const auto handler = [raw = server.get()](const net::Request& request, net::Respond respond) { raw->serve(request, std::move(respond)); };
    BOOST_OUTCOME_TRY(http, net::HttpServer::listen(loop, listen, handler, limits()));
    server->http_ = std::move(http);
    return server;
}

Server::Server(net::Loop& loop, objectstore::ObjectStore& store, ServerOptions options)
    : now_{std::move(options.now)},
      metrics_{"shoal-tracker"},
      board_{options.beat, std::move(options.topology), options.seed, now_(), options.origin},
      library_{loop, store, options.cache_bytes, now_},
      beats_{loop, board_, metrics_, now_},
      stock_{options.stock_clients, board_, library_, [this] { beats_.let_go(); }, now_},
      api_{board_, library_, stock_, now_},
      gauges_{metrics_, board_, library_},
      store_answers_{failure(Errc::timed_out, "store: " + store.url() + ": has not answered yet")},
      ticks_{loop.every(tick_period, [this] { tick(); })},
      probes_{loop.every(probe_period, [this] { probe_store(); })}
{
    if (stock_.allowed()) board_.let_strangers_in();
    probe_store();
}

void Server::tick()
{
    for (const PeerId& gone : board_.expire(now_())) obs::log(obs::Level::info, "gone silent", {{"peer", to_hex(gone)}});
    beats_.end_gone();
    stock_.tick();
    beats_.let_go();
}

void Server::serve(const net::Request& request, net::Respond respond)
{
    if (request.path == "/control/v1/beat") {
        if (request.method == "POST")
            beats_.post(request, std::move(respond));
        else
            respond(not_that_method("POST"));
    } else if (request.method == "GET" || request.method == "HEAD") {
        get(request, respond);
    } else {
        respond(not_that_method("GET, HEAD"));
    }
}

void Server::get(const net::Request& request, const net::Respond& respond)
{
    if (request.path.starts_with("/api/v1/")) {
        api_.get(request, respond);
    } else if (request.path == "/metrics") {
        gauges_.refresh(now_());
        respond({.status = 200, .content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_.text(), .headers = {}});
    } else if (request.path == "/livez") {
        respond({.status = 200, .body = "ok\n", .headers = {}});
    } else if (request.path == "/readyz") {
        respond(ready());
    } else if (request.path == "/announce") {
        stock_.announce(request, respond);
    } else if (request.path == "/scrape") {
        stock_.scrape(request, respond);
    } else {
        respond(problem(404, "Not found", "no such page: " + request.path.substr(0, 200)));
    }
}

// Ready to serve, which is not to know all: beats bring that.
net::Response Server::ready() const
{
    if (store_answers_) return {.status = 200, .body = "ok\n", .headers = {}};
    return problem(store_answers_.error());
}

void Server::probe_store()
{
    library_.probe([this](const Result<void>& answered) {
        if (answered.has_value() != store_answers_.has_value())
            obs::log(answered ? obs::Level::info : obs::Level::warning, answered ? "the store answers" : answered.error().message, {});
        store_answers_ = answered;
        const bool final = answered || answered.error().code == Errc::not_found || answered.error().code == Errc::not_allowed;  // others may pass
        if (final && first_answer_) std::exchange(first_answer_, nullptr)(answered);
    });
}

}  // namespace shoal::tracker
