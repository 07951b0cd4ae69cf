// HTTP/1.1, server and client, over Boost.Beast. Everything happens on the loop; every exchange has a deadline and size limits. What a handler or a `done`
// throws leaves Loop::run().
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"
#include "common/net/loop.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::net {

struct Request {
    std::string method;                          // "GET"
    std::string path;                            // as sent, still percent-encoded, without the query
    std::map<std::string, std::string> query;    // decoded; of repeated keys the last
    std::string raw_query;                       // as sent, for binary values (BEP 3 info_hash)
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
    std::string remote;  // address of the client, no port
};

struct Response {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body{};
    std::map<std::string, std::string> headers{};  // beside Content-Type and Content-Length
};

struct ServerLimits {
    std::size_t max_body = 4U << 20U;  // larger: 413
    std::size_t max_header = 16U << 10U;
    std::size_t max_connections = 20'000;         // more wait in the listen queue
    Duration idle = std::chrono::seconds{75};     // between requests
    Duration request = std::chrono::seconds{10};  // to read one, and to write its answer (a slow reader is hung up on)
    std::size_t slowest_reader = 100'000;         // bytes/s: the time a long answer may take beyond `request`
    Duration answer = std::chrono::seconds{120};  // for the handler; then 503
    std::size_t max_bodies = 256U << 20U;         // of all requests being read together; more: 503
};

// Answers once, now or later, from the loop. Calling it after the client has gone (closed or reset its connection, sending side included) does nothing.
// Let go without an answer, it answers 500.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(const Request&, Respond)>;

class HttpServer {
public:
    // "addr:port", ":port" (all addresses, IPv6 too where there is any), "[::]:port"; port 0 picks one. invalid, or not_allowed/io naming the address.
    static Result<std::unique_ptr<HttpServer>> listen(Loop& loop, const std::string& endpoint, Handler handler, ServerLimits limits = {});
    ~HttpServer();  // NOLINT(bugprone-exception-escape): a timer is cancelled
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    [[nodiscard]] std::string endpoint() const;  // "addr:port" with the real port

    struct Impl;  // for common/net only

private:
    explicit HttpServer(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> impl_;
};

struct Url {
    std::string host, path;  // host without brackets; path may be empty
    std::uint16_t port = 80;
};
Result<Url> parse_url(std::string_view text);  // http only; invalid otherwise

// Name to addresses ("1.2.3.4", "::1"), within the deadline.
[[nodiscard]] Handle resolve(Loop& loop, const std::string& host, Duration deadline, std::function<void(Result<std::vector<std::string>>)> done);

struct ClientRequest {
    std::string method = "GET";
    std::string host{};  // an address
    std::uint16_t port = 80;
    std::string host_header{};  // name and port, as in the URL
    std::string target{};       // path and query, encoded
    std::string content_type{};
    std::string body{};
    std::size_t max_reply = 4U << 20U;  // larger: too_large
    Duration connect_within = std::chrono::seconds{5};
    Duration answer_within = std::chrono::seconds{30};  // the whole reply, a slow drip included
};

struct ClientResponse {
    int status = 0;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

// Connections to the same host and port are kept and used again. Errors: timed_out, too_large, malformed, io; they name host, port and target.
class HttpClient {
public:
    explicit HttpClient(Loop& loop);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    [[nodiscard]] Handle send(ClientRequest request, std::function<void(Result<ClientResponse>)> done);

    struct Impl;  // for common/net only

private:
    std::shared_ptr<Impl> impl_;
};

std::string percent_encode(std::string_view text);          // all but unreserved characters (RFC 3986)
Result<std::string> percent_decode(std::string_view text);  // invalid

}  // namespace shoal::net
