#include "common/net/coroutine.hpp"
#include "common/net/http_connection.hpp"
#include "common/net/listener.hpp"
#include "common/net/loop_impl.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace shoal::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t descriptors_for_others = 1000;

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
    Impl(tcp::acceptor listening, std::shared_ptr<ServerState> server_state) : acceptor{std::move(listening)}, state{std::move(server_state)} {}

    asio::awaitable<void> accept();
    void close();

    tcp::acceptor acceptor;
    std::shared_ptr<ServerState> state;
};

asio::awaitable<void> HttpServer::Impl::accept()
{
    asio::steady_timer& room = state->room;
    while (!state->closed) {
        error_code ec;
        if (state->connections.size() >= state->limits.max_connections) {
            room.expires_at(asio::steady_timer::time_point::max());
            co_await room.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            continue;
        }
        tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (state->closed) co_return;
        if (ec) {  // no descriptors left, or the client has gone again
            room.expires_after(std::chrono::milliseconds{100});
            co_await room.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            continue;
        }
        serve_connection(state, std::move(socket));
    }
}

void HttpServer::Impl::close()
{
    state->closed = true;
    state->handler = nullptr;
    error_code ignored;
    acceptor.close(ignored);
    state->room.cancel();
    close_connections(*state);
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, const std::string& endpoint, Handler handler, ServerLimits limits)
{
    auto acceptor = open_listener(loop.impl().io, endpoint);
    if (!acceptor) return failure(acceptor.error());
    allow_descriptors(limits.max_connections + descriptors_for_others);
    auto impl = std::make_shared<Impl>(std::move(acceptor.value()), std::make_shared<ServerState>(loop.impl().io, std::move(handler), limits));
    start(loop.impl().io, [impl] { return impl->accept(); });
    return std::unique_ptr<HttpServer>{new HttpServer{std::move(impl)}};
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}

HttpServer::~HttpServer()  // NOLINT(bugprone-exception-escape): a timer is cancelled
{
    impl_->close();
}

std::string HttpServer::endpoint() const
{
    error_code ignored;
    return text_of(impl_->acceptor.local_endpoint(ignored));
}

}  // namespace shoal::net
