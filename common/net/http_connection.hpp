// One client of an HttpServer: reads its requests one after the other, and writes their answers. For common/net only; on the loop.
#pragma once

#include "common/net/http.hpp"

#include <utility>  // boost 1.74's awaitable.hpp lacks it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <unordered_set>

namespace shoal::net {

class Connection;

// What a server and its connections share. Each connection keeps it alive.
struct ServerState {
    ServerState(boost::asio::io_context& io_context, Handler handle, ServerLimits server_limits)
        : io{io_context}, handler{std::move(handle)}, limits{server_limits}, room{io}
    {}
    boost::asio::io_context& io;
    Handler handler;
    ServerLimits limits;
    boost::asio::steady_timer room;  // cancelled when a connection ends
    std::unordered_set<Connection*> connections;
    std::size_t bodies = 0;  // bytes that requests being read may take
    bool closed = false;     // no handler is called any more
};

void serve_connection(const std::shared_ptr<ServerState>& server, boost::asio::ip::tcp::socket socket);
void close_connections(ServerState& server);

}  // namespace shoal::net
