#include "seeder/serve.hpp"

#include "common/cli/options.hpp"
#include "common/cli/process.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/log.hpp"
#include "seeder/seeder.hpp"

#include <iostream>
#include <memory>
#include <utility>

namespace shoal::seeder {
namespace {

Result<std::unique_ptr<net::HttpServer>> serve_status(net::Loop& loop, const std::string& endpoint, const Seeder& seeder, const obs::Metrics& metrics)
{
    return net::HttpServer::listen(loop, endpoint, [&seeder, &metrics](const net::Request& request, const net::Respond& respond) {
        if (request.method != "GET" && request.method != "HEAD") return respond({405, "text/plain; charset=utf-8", "only GET\n", {{"Allow", "GET, HEAD"}}});
        if (request.path == "/livez") return respond({200, "text/plain; charset=utf-8", "ok\n", {}});
        if (request.path == "/readyz") {
            const std::string trouble = seeder.trouble();
            return respond({trouble.empty() ? 200 : 503, "text/plain; charset=utf-8", (trouble.empty() ? "ok" : trouble) + "\n", {}});
        }
        if (request.path == "/metrics") return respond({200, "text/plain; version=0.0.4", metrics.text(), {}});
        respond({404, "text/plain; charset=utf-8", "there is /metrics, /livez, /readyz\n", {}});
    });
}

void say(const std::string& what, const std::string& endpoint)
{
    std::cerr << what << " on " << endpoint << std::endl;
}

Result<void> run(const ServeOptions& options)
{
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store));
    const auto metrics = std::make_shared<obs::Metrics>("shoal-seeder");
    net::Loop loop;
    BOOST_OUTCOME_TRY(seeder, Seeder::open(loop, options, std::move(store), metrics));
    std::unique_ptr<net::HttpServer> http;
    if (!options.http.empty()) {
        BOOST_OUTCOME_TRY(server, serve_status(loop, options.http, *seeder, *metrics));
        http = std::move(server);
    }
    bool leaving = false;
    const net::Handle signals = loop.on_signals([&](int /*signal*/) {
        if (std::exchange(leaving, true)) return;
        cli::exit_by_alarm(0);
        obs::log(obs::Level::info, "leaving");
        seeder->leave([&loop] { loop.stop(); });
    });
    seeder->start([&] {
        if (http) say("http listening", http->endpoint());
        say("listening", seeder->endpoint());
    });
    loop.run();
    return success();
}

}  // namespace

int serve(const ServeOptions& options)
{
    const Result<void> served = run(options);
    return served ? 0 : cli::report("shoal-seeder", served.error());
}

}  // namespace shoal::seeder
