#include "common/net/address.hpp"
#include "common/net/coroutine.hpp"
#include "common/net/http_text.hpp"
#include "common/net/loop_impl.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_set>

namespace shoal::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t max_idle = 64;                      // connections kept; the oldest goes first
constexpr Duration idle_time = std::chrono::seconds{10};  // less than servers keep theirs
constexpr std::uint32_t max_reply_header = 16U << 10U;

std::string authority(const ClientRequest& request)
{
    return endpoint_text(request.host, request.port);
}

http::request<http::string_body> message_from(ClientRequest& request)
{
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.target.empty() ? "/" : request.target);
    message.set(http::field::host, request.host_header.empty() ? authority(request) : request.host_header);
    message.set(http::field::user_agent, "shoal/" SHOAL_VERSION);
    if (!request.content_type.empty()) message.set(http::field::content_type, request.content_type);
    message.body() = std::move(request.body);
    message.prepare_payload();
    return message;
}

Errc kind_of(error_code ec)
{
    if (ec == beast::error::timeout) return Errc::timed_out;
    if (ec == http::error::body_limit || ec == http::error::header_limit) return Errc::too_large;
    if (ec == http::error::end_of_stream || ec == http::error::partial_message) return Errc::io;
    return ec.category() == make_error_code(http::error::bad_version).category() ? Errc::malformed : Errc::io;
}

std::string cause_of(error_code ec, const ClientRequest& request)
{
    if (ec == beast::error::timeout) return "no whole answer in time";
    if (ec == http::error::body_limit) return "the answer is larger than " + std::to_string(request.max_reply) + " bytes";
    if (ec == http::error::header_limit) return "the answer's header is too large";
    if (ec == http::error::end_of_stream || ec == http::error::partial_message) return "the connection was closed before the whole answer";
    return ec.message();
}

// An open connection that nobody uses at the moment.
struct Idle {
    std::string authority;
    std::unique_ptr<beast::tcp_stream> stream;
    TimePoint since;
};

// Closed by the other side, or with bytes that nobody asked for.
bool is_stale(beast::tcp_stream& stream)
{
    char byte = 0;
    return ::recv(stream.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace

class Exchange;

struct HttpClient::Impl {
    explicit Impl(asio::io_context& io_context) : io{io_context} {}

    std::unique_ptr<beast::tcp_stream> take(const std::string& authority)
    {
        forget_old();
        for (auto one = idle.rbegin(); one != idle.rend(); ++one) {
            if (one->authority != authority) continue;
            auto stream = std::move(one->stream);
            idle.erase(std::next(one).base());
            if (!is_stale(*stream)) return stream;
            return take(authority);
        }
        return nullptr;
    }

    void keep(std::string authority, std::unique_ptr<beast::tcp_stream> stream)
    {
        if (closed) return;
        stream->expires_never();
        idle.push_back({std::move(authority), std::move(stream), Clock::now()});
        forget_old();
    }

    void forget_old()
    {
        while (!idle.empty() && (idle.size() > max_idle || Clock::now() - idle.front().since > idle_time)) idle.pop_front();
    }

    asio::io_context& io;
    std::deque<Idle> idle;
    std::unordered_set<Exchange*> exchanges;
    bool closed = false;
};

// One request and its answer. The coroutine keeps it alive; cancel() makes it end soon and silently.
class Exchange : public std::enable_shared_from_this<Exchange> {
public:
    using Done = std::function<void(Result<ClientResponse>)>;

    Exchange(std::shared_ptr<HttpClient::Impl> client, ClientRequest request, Done done)
        : client_{std::move(client)}, request_{std::move(request)}, message_{message_from(request_)}, done_{std::move(done)}
    {
        client_->exchanges.insert(this);
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange() { client_->exchanges.erase(this); }

    asio::awaitable<void> run()
    {
        co_await asio::post(client_->io, asio::use_awaitable);  // never calls back from inside send()
        stream_ = client_->take(authority(request_));
        error_code ec = co_await attempt();
        if (ec && retry_ && done_) {
            stream_.reset();
            ec = co_await attempt();
        }
        const Done done = std::exchange(done_, nullptr);
        if (!done) co_return;
        if (ec)
            done(failure(kind_of(ec), request_.method + ": http://" + authority(request_) + request_.target + ": " + cause_of(ec, request_)));
        else
            done(std::move(response_));
    }

    void cancel()
    {
        done_ = nullptr;
        if (stream_) stream_->close();
    }

private:
    asio::awaitable<error_code> attempt()
    {
        error_code ec;
        if (!done_) co_return asio::error::operation_aborted;
        retry_ = stream_ != nullptr;  // the other side may close a kept connection at the very moment that we use it
        if (!stream_) ec = co_await connect();
        if (ec) co_return ec;
        stream_->expires_after(request_.answer_within);
        co_await http::async_write(*stream_, message_, asio::redirect_error(asio::use_awaitable, ec));
        if (!ec) ec = co_await read();
        retry_ = retry_ && ec && ec != beast::error::timeout;
        co_return ec;
    }

    asio::awaitable<error_code> connect()
    {
        error_code ec;
        const auto address = asio::ip::make_address(request_.host, ec);
        if (ec) co_return ec;
        stream_ = std::make_unique<beast::tcp_stream>(client_->io);
        stream_->expires_after(request_.connect_within);
        const tcp::endpoint endpoint{address, request_.port};
        co_await stream_->async_connect(endpoint, asio::redirect_error(asio::use_awaitable, ec));
        error_code ignored;
        if (!ec) stream_->socket().set_option(tcp::no_delay(true), ignored);
        co_return ec;
    }

    asio::awaitable<error_code> read()
    {
        http::response_parser<http::string_body> parser;
        parser.header_limit(max_reply_header);
        parser.body_limit(request_.max_reply);
        parser.skip(message_.method() == http::verb::head);
        beast::flat_buffer buffer;
        buffer.reserve(8192);
        error_code ec;
        const std::size_t got = co_await http::async_read_header(*stream_, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
        if (got > 0) retry_ = false;
        // Beast 1.74 notices this of requests only.
        if (!ec && parser.content_length() && *parser.content_length() > request_.max_reply && !parser.is_done()) ec = http::error::body_limit;
        if (!ec) co_await http::async_read(*stream_, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return ec;
        response_.status = static_cast<int>(parser.get().result_int());
        for (const auto& field : parser.get())
            response_.headers.insert_or_assign(lower({field.name_string().data(), field.name_string().size()}), std::string{field.value()});
        response_.body = std::move(parser.get().body());
        if (parser.keep_alive() && buffer.size() == 0 && done_) client_->keep(authority(request_), std::move(stream_));
        co_return ec;
    }

    std::shared_ptr<HttpClient::Impl> client_;
    ClientRequest request_;
    http::request<http::string_body> message_;
    Done done_;
    std::unique_ptr<beast::tcp_stream> stream_;
    ClientResponse response_;
    bool retry_ = false;
};

// What the Handle of a request holds.
class Cancellation {
public:
    explicit Cancellation(std::weak_ptr<Exchange> exchange) : exchange_{std::move(exchange)} {}
    Cancellation(const Cancellation&) = delete;
    Cancellation& operator=(const Cancellation&) = delete;
    ~Cancellation()
    {
        if (const auto running = exchange_.lock()) running->cancel();
    }

private:
    std::weak_ptr<Exchange> exchange_;
};

HttpClient::HttpClient(Loop& loop) : impl_{std::make_shared<Impl>(loop.impl().io)} {}

HttpClient::~HttpClient()
{
    impl_->closed = true;
    impl_->idle.clear();
    for (Exchange* exchange : impl_->exchanges) exchange->cancel();
}

Handle HttpClient::send(ClientRequest request, std::function<void(Result<ClientResponse>)> done)
{
    auto exchange = std::make_shared<Exchange>(impl_, std::move(request), std::move(done));
    start(impl_->io, [exchange] { return exchange->run(); });
    return std::make_shared<Cancellation>(exchange);
}

}  // namespace shoal::net
