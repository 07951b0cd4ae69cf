#include "tracker/serve.hpp"

#include "common/cli/options.hpp"
#include "common/core/random.hpp"
#include "common/files/file.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/log.hpp"
#include "tracker/server.hpp"

#include <unistd.h>

#include <csignal>
#include <iostream>

namespace shoal::tracker {
namespace {

constexpr unsigned exit_within_seconds = 4;

// All state is soft, and a read of a store that hangs cannot be called back: the process ends even then.
void end_in_any_case(int /*signal*/)
{
    ::_exit(0);
}

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
    server_options.seed = random_seed();
    Result<void> ended = success();
    const net::Handle signals = loop.on_signals([&loop](int /*signal*/) {
        std::signal(SIGALRM, end_in_any_case);
        ::alarm(exit_within_seconds);
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
