#include "common/net/http_connection.hpp"

#include "common/net/coroutine.hpp"
#include "common/net/http_text.hpp"
#include "common/net/listener.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>

#include <optional>

namespace shoal::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t idle_buffer = 512;   // what a connection costs while nothing is asked
constexpr std::size_t busy_buffer = 8192;  // and while a request is read

using Parser = http::request_parser<http::string_body>;

std::string_view view(beast::string_view text)
{
    return {text.data(), text.size()};
}

std::optional<Request> request_from(Parser::value_type& message, std::string remote)
{
    Request request;
    if (!parse_target(view(message.target()), request)) return std::nullopt;
    request.method = std::string{message.method_string()};
    for (const auto& field : message) request.headers.insert_or_assign(lower(view(field.name_string())), std::string{field.value()});
    request.body = std::move(message.body());
    request.remote = std::move(remote);
    return request;
}

Response plain(int status, std::string text)
{
    Response response;
    response.status = status;
    response.body = std::move(text);
    return response;
}

// What a request that could not be read is told; none: nothing, the client is gone.
std::optional<Response> refusal(error_code ec)
{
    if (ec == http::error::header_limit) return plain(431, "the request's header is too large\n");
    if (ec == http::error::body_limit) return plain(413, "the request's body is too large\n");
    if (ec == asio::error::timed_out) return plain(408, "the request did not arrive in time\n");
    if (ec == http::error::end_of_stream || ec == http::error::partial_message) return std::nullopt;
    if (ec.category() == make_error_code(http::error::bad_version).category()) return plain(400, "not a request: " + ec.message() + "\n");
    return std::nullopt;
}

// The answer to one request: given once, from the loop, perhaps much later. The last copy of Respond that goes without an answer gives a 500.
class Answer {
public:
    explicit Answer(asio::io_context& io) : wake_{io, asio::steady_timer::time_point::max()} {}

    void give(Response response)
    {
        if (response_ || abandoned_) return;
        response_ = std::move(response);
        wake_.cancel();
    }
    void abandon()  // the client has gone
    {
        abandoned_ = true;
        wake_.cancel();
    }
    [[nodiscard]] bool is_settled() const { return response_ || abandoned_; }
    [[nodiscard]] bool is_abandoned() const { return abandoned_; }
    Response take() { return response_ ? std::move(*response_) : plain(503, "no answer in time\n"); }

    asio::awaitable<void> settle(Duration within)
    {
        if (is_settled()) co_return;
        wake_.expires_after(within);
        error_code ignored;
        co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }

private:
    asio::steady_timer wake_;
    std::optional<Response> response_;
    bool abandoned_ = false;
};

// What the handler holds.
class Promise {
public:
    explicit Promise(const std::shared_ptr<Answer>& answer) : answer_{answer} {}
    Promise(const Promise&) = delete;
    Promise& operator=(const Promise&) = delete;
    ~Promise() { give(plain(500, "no answer\n")); }  // NOLINT(bugprone-exception-escape): no memory for it ends the process
    void give(Response response)
    {
        if (const auto answer = answer_.lock()) answer->give(std::move(response));
    }

private:
    std::weak_ptr<Answer> answer_;
};

}  // namespace

class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(std::shared_ptr<ServerState> server, tcp::socket socket) : server_{std::move(server)}, socket_{std::move(socket)}, deadline_{server_->io}
    {
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
        const auto endpoint = socket_.remote_endpoint(ignored);
        remote_ = text_of(endpoint.address());
        server_->connections.insert(this);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection()  // NOLINT(bugprone-exception-escape): a timer is cancelled
    {
        server_->connections.erase(this);
        server_->room.cancel();
    }

    asio::awaitable<void> serve()
    {
        bool go_on = true;
        while (go_on && !server_->closed) go_on = co_await exchange();
        if (!server_->closed) co_await drain();
    }

    void close()
    {
        error_code ignored;
        socket_.close(ignored);
        deadline_.cancel();
        if (const auto held = held_.lock()) held->abandon();
    }

private:
    // Bytes that this connection may put into a body, given back by the destructor.
    struct Share {
        std::size_t& taken;
        std::size_t bytes;
        Share(std::size_t& from, std::size_t want) : taken{from}, bytes{want} { taken += bytes; }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;
        ~Share() { taken -= bytes; }
    };

    // From now on: what reads or writes then is cancelled, and late_ says why.
    void expire_after(Duration within)
    {
        late_ = false;
        deadline_.expires_after(within);
        deadline_.async_wait([weak = weak_from_this()](error_code ec) {
            const auto self = weak.lock();
            if (ec || !self || self->deadline_.expiry() > Clock::now()) return;
            self->late_ = true;
            error_code ignored;
            self->socket_.cancel(ignored);
        });
    }

    // One request and its answer; false ends the connection.
    asio::awaitable<bool> exchange()
    {
        if (buffer_.size() == 0) {
            if (!co_await await_request()) co_return false;
        }
        Parser parser;
        parser.header_limit(static_cast<std::uint32_t>(server_->limits.max_header));
        parser.body_limit(server_->limits.max_body);
        error_code ec;
        expire_after(server_->limits.request);
        co_await http::async_read_header(socket_, buffer_, parser, asio::redirect_error(asio::use_awaitable, ec));
        const std::size_t body = ec ? 0 : expected_body(parser);
        if (server_->bodies + body > server_->limits.max_bodies) {
            Response busy = plain(503, "too many requests at once\n");
            co_return co_await write(std::move(busy), Last::yes);
        }
        const Share share{server_->bodies, body};
        if (!ec) co_await read_body(parser, ec);
        if (ec) co_return co_await refuse(late_ ? asio::error::timed_out : ec);
        co_return co_await answer(parser);
    }

    [[nodiscard]] std::size_t expected_body(const Parser& parser) const
    {
        if (parser.content_length()) return static_cast<std::size_t>(*parser.content_length());
        return parser.chunked() ? server_->limits.max_body : 0;
    }

    asio::awaitable<bool> await_request()
    {
        buffer_.shrink_to_fit();
        error_code ec;
        expire_after(server_->limits.idle);
        const std::size_t got = co_await socket_.async_read_some(buffer_.prepare(idle_buffer), asio::redirect_error(asio::use_awaitable, ec));
        buffer_.commit(got);
        if (!ec) buffer_.reserve(busy_buffer);
        co_return !ec;
    }

    // A socket closed on bytes not read resets the connection, and the client never sees the answer to what was too large.
    asio::awaitable<void> drain()
    {
        error_code ec;
        socket_.shutdown(tcp::socket::shutdown_send, ec);
        expire_after(std::chrono::seconds{1});
        buffer_.clear();
        for (std::size_t drained = 0; !ec && drained < 4 * server_->limits.max_body;)
            drained += co_await socket_.async_read_some(buffer_.prepare(busy_buffer), asio::redirect_error(asio::use_awaitable, ec));
    }

    asio::awaitable<void> read_body(Parser& parser, error_code& ec)
    {
        if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
            static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            co_await asio::async_write(socket_, asio::buffer(go_on), asio::redirect_error(asio::use_awaitable, ec));
        }
        if (!ec) co_await http::async_read(socket_, buffer_, parser, asio::redirect_error(asio::use_awaitable, ec));
    }

    asio::awaitable<bool> refuse(error_code ec)
    {
        auto response = refusal(ec);
        if (response) co_await write(std::move(*response), Last::yes);
        co_return false;
    }

    asio::awaitable<bool> answer(Parser& parser)
    {
        head_ = parser.get().method() == http::verb::head;
        const Last last = parser.keep_alive() ? Last::no : Last::yes;
        auto request = request_from(parser.get(), remote_);
        if (!request) {
            Response refused = plain(400, "not a request target\n");
            co_return co_await write(std::move(refused), Last::yes);
        }
        auto answer = std::make_shared<Answer>(server_->io);
        held_ = answer;
        ask(*request, answer);
        if (!answer->is_settled()) {
            deadline_.expires_at(TimePoint::max());
            watch(answer);
            co_await answer->settle(server_->limits.answer);
            error_code ignored;
            socket_.cancel(ignored);
        }
        if (answer->is_abandoned() || server_->closed) co_return false;
        Response response = answer->take();
        co_return co_await write(std::move(response), last);
    }

    void ask(const Request& request, const std::shared_ptr<Answer>& answer)
    {
        auto promise = std::make_shared<Promise>(answer);
        const Handler handler = server_->handler;  // a handler may end the server
        if (handler) handler(request, [promise = std::move(promise)](Response response) { promise->give(std::move(response)); });
    }

    // While an answer is held: an end of stream or an error means that nobody waits for it. Bytes (a pipelined request) mean that somebody does.
    void watch(const std::shared_ptr<Answer>& answer)
    {
        socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this(), weak = std::weak_ptr{answer}](error_code ec) {
            const auto waiting = weak.lock();
            if (!waiting || ec == asio::error::operation_aborted) return;
            char byte = 0;
            const auto got = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            const bool gone = ec || got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
            if (gone) waiting->abandon();
        });
    }

    enum class Last : bool { no, yes };

    asio::awaitable<bool> write(Response response, Last last)
    {
        const std::size_t size = response.body.size();
        http::response<http::string_body> message{static_cast<http::status>(response.status), 11};
        message.set(http::field::content_type, response.content_type);
        for (const auto& [name, value] : response.headers) message.set(name, value);
        message.keep_alive(last == Last::no);
        if (response.status != 204 && response.status != 304) message.content_length(size);
        if (!head_) message.body() = std::move(response.body);
        head_ = false;
        error_code ec;
        expire_after(server_->limits.request + std::chrono::seconds{size / server_->limits.slowest_reader});
        co_await http::async_write(socket_, message, asio::redirect_error(asio::use_awaitable, ec));
        co_return !ec && last == Last::no;
    }

    std::shared_ptr<ServerState> server_;
    tcp::socket socket_;
    asio::steady_timer deadline_;
    bool late_ = false;
    beast::flat_buffer buffer_;
    std::string remote_;
    std::weak_ptr<Answer> held_;
    bool head_ = false;
};

void serve_connection(const std::shared_ptr<ServerState>& server, tcp::socket socket)
{
    auto connection = std::make_shared<Connection>(server, std::move(socket));
    start(server->io, [connection] { return connection->serve(); });
}

void close_connections(ServerState& server)
{
    for (Connection* connection : server.connections) connection->close();
}

}  // namespace shoal::net
