#include "tracker/serve.hpp"

#include "common/cli/options.hpp"
#include "common/cli/process.hpp"
#include "common/core/random.hpp"
#include "common/files/file.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/log.hpp"
#include "tracker/server.hpp"

#include <iostream>

namespace shoal::tracker {
namespace {

Result<Topology> read_topology(const std::string& path)
{
    if (path.empty()) return Topology{};
    BOOST_OUTCOME_TRY(text, files::read_small(path, Topology::max_bytes));
    return Topology::parse(text, path);
}

Result<void> run(const ServeOptions& options)
{
    BOOST_OUTCOME_TRY(topology, read_topology(options.topology));
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store));
    net::Loop loop;
    ServerOptions server_options;
    server_options.listen = options.listen;
    server_options.beat = options.beat;
    server_options.topology = std::move(topology);
    server_options.stock_clients = options.allow_stock_clients ? StockClients::allowed : StockClients::refused;
    server_options.origin = options.origin;
    server_options.seed = random_seed();
    Result<void> ended = success();
    const net::Handle signals = loop.on_signals([&loop](int /*signal*/) {
        cli::exit_by_alarm(0);  // all state is soft
        loop.stop();
    });
    BOOST_OUTCOME_TRY(server, Server::open(loop, *store, std::move(server_options)));
    server->when_ready([&](const Result<void>& answered) {
        if (!answered) {
            ended = failure(answered.error());
            loop.stop();
            return;
        }
        std::cerr << "listening on " << server->endpoint() << std::endl;
    });
    loop.run();
    obs::log(obs::Level::info, "leaving");
    return ended;
}

}  // namespace

int serve(const ServeOptions& options)
{
    const Result<void> served = run(options);
    return served ? 0 : cli::report("shoal-tracker", served.error());
}

}  // namespace shoal::tracker
