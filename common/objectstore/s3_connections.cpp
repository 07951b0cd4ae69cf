#include "common/objectstore/s3_connections.hpp"

#include "common/crypto/sha256.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <ctime>
#include <curl/curl.h>
#include <new>

namespace shoal::objectstore {
namespace {

constexpr long slow_bytes_per_second = 1024;
constexpr std::size_t most_header_bytes = 64U << 10U;

struct Headers {
    Headers() = default;
    ~Headers() { curl_slist_free_all(list); }
    Headers(const Headers&) = delete;
    Headers& operator=(const Headers&) = delete;
    void add(const std::string& line)
    {
        curl_slist* const longer = curl_slist_append(list, line.c_str());
        if (longer == nullptr) throw std::bad_alloc{};
        list = longer;
    }
    curl_slist* list = nullptr;
};

// A reply as it comes in.
struct Arriving {
    CURL* handle = nullptr;
    const HttpRequest* request = nullptr;
    HttpReply reply;
    std::size_t header_bytes = 0;
    bool connected = false;
};

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::size_t take_header(Arriving& arriving, std::string_view line)
{
    const std::size_t size = line.size();
    arriving.header_bytes += size;
    if (arriving.header_bytes > most_header_bytes) return 0;
    if (line.starts_with("HTTP/")) arriving.reply.headers.clear();  // of a reply before this one: 100, or a proxy's
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    const std::size_t from = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    const std::size_t to = std::max(from, line.find_last_not_of(" \t\r\n") + 1);
    arriving.reply.headers[lower(std::string{line.substr(0, colon)})] = line.substr(from, to - from);
    return size;
}

std::size_t take_body(Arriving& arriving, std::string_view bytes)
{
    const std::size_t size = bytes.size();
    HttpReply& reply = arriving.reply;
    long status = 0;
    curl_easy_getinfo(arriving.handle, CURLINFO_RESPONSE_CODE, &status);
    const bool into_out = status >= 200 && status < 300 && !arriving.request->out.empty();
    const std::size_t limit = into_out ? arriving.request->out.size() : arriving.request->limit;
    const auto held = static_cast<std::size_t>(std::min<std::uint64_t>(reply.received, limit));
    const std::size_t fits = std::min(size, limit - held);
    if (into_out && fits > 0)
        std::memcpy(arriving.request->out.data() + held, bytes.data(), fits);
    else
        reply.body.append(bytes, 0, fits);
    reply.received += size;
    reply.too_long = reply.too_long || fits < size;
    return fits;  // fewer than came end the exchange
}

// For curl, which is C: nothing may be thrown through it. Where there is no memory the exchange ends.
template <std::size_t (*take)(Arriving&, std::string_view)>
std::size_t on_bytes(char* data, std::size_t /*one*/, std::size_t size, void* user)
{
    try {
        return take(*static_cast<Arriving*>(user), {data, size});
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

int on_progress(void* user, curl_off_t /*down_total*/, curl_off_t /*down*/, curl_off_t /*up_total*/, curl_off_t /*up*/)
{
    return static_cast<const HttpRequest*>(user)->keep_going() ? 0 : 1;
}

Failure failure_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return Failure::none;
    case CURLE_COULDNT_RESOLVE_HOST: return Failure::unresolved;
    case CURLE_COULDNT_CONNECT: return Failure::unreachable;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return Failure::proxy;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return Failure::untrusted;
    case CURLE_PARTIAL_FILE: return Failure::cut;
    case CURLE_OPERATION_TIMEDOUT: return Failure::timed_out;
    case CURLE_ABORTED_BY_CALLBACK: return Failure::interrupted;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_BAD_FUNCTION_ARGUMENT: return Failure::other;
    default: return Failure::reset;
    }
}

long milliseconds(Duration duration)
{
    return std::max(1L, static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()));
}

void set_method(CURL* handle, const HttpRequest& request, Headers& headers)
{
    if (request.method == "HEAD") {
        curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
        return;
    }
    if (request.method != "GET") {
        if (request.method == "PUT") headers.add("content-type: application/octet-stream");
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data() == nullptr ? "" : request.body.data());
    }
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_limits(CURL* handle, const HttpRequest& request, Duration left)
{
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);  // a resolver that hangs holds nobody up
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds(left));
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(std::min(request.connect_deadline, left)));
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, slow_bytes_per_second);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, std::max(1L, milliseconds(request.stall) / 1000));
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    if (!request.keep_going) return;
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &request);
}

std::string date_text(std::int64_t seconds)
{
    std::tm fields{};
    const std::time_t time = seconds;
    ::gmtime_r(&time, &fields);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &fields)};
}

// The digest is sent by ourselves, since curl would take that of an empty body for a body that is not text.
void set_signature(CURL* handle, const HttpRequest& request, const Signature& signature, Headers& headers)
{
    headers.add("x-amz-content-sha256: " + to_hex(crypto::sha256(as_bytes(request.body))));
    if (signature.time) headers.add("x-amz-date: " + date_text(*signature.time));
    if (!signature.keys.token.empty()) headers.add("x-amz-security-token: " + signature.keys.token);
    curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, ("aws:amz:" + signature.region + ":s3").c_str());
    curl_easy_setopt(handle, CURLOPT_USERNAME, signature.keys.id.c_str());
    curl_easy_setopt(handle, CURLOPT_PASSWORD, signature.keys.secret.c_str());
}

// Which of its limits an exchange went over.
Failure slower_than(const HttpRequest& request, bool connected, Duration passed)
{
    if (!connected) return Failure::unreachable;
    return passed < request.deadline ? Failure::stalled : Failure::timed_out;
}

// curl tells of a proxy that it cannot use by its whole URL, which may hold a password.
std::string cause_of(CURLcode code, const std::string& told)
{
    if (told.find('@') != std::string::npos) return std::string{"the URL of the proxy cannot be used: "} + curl_easy_strerror(code);
    return told.empty() ? curl_easy_strerror(code) : told;
}

CURLcode perform(Arriving& arriving)
{
    CURL* const handle = arriving.handle;
    std::array<char, CURL_ERROR_SIZE> cause{};
    curl_easy_setopt(handle, CURLOPT_URL, arriving.request->url.c_str());
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    if (arriving.request->direct) curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, cause.data());
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_bytes<take_header>);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &arriving);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_bytes<take_body>);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &arriving);
    const CURLcode code = curl_easy_perform(handle);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    arriving.reply.status = static_cast<int>(status);
    double connecting = 0;
    curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME, &connecting);
    arriving.connected = status != 0 || connecting > 0;
    arriving.reply.cause = cause.data();
    return code;
}

}  // namespace

struct S3Connections::Connection {
    Connection() : handle(curl_easy_init())
    {
        if (handle == nullptr) throw std::bad_alloc{};
    }
    ~Connection() { curl_easy_cleanup(handle); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    CURL* handle;
};

S3Connections::S3Connections(std::string ca_file, std::size_t most) : ca_file_{std::move(ca_file)}, most_{most}
{
    // Also where another store was made before: it counts.
    static const CURLcode prepared = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (prepared != CURLE_OK) throw std::bad_alloc{};
    idle_.reserve(most_);  // so that giving back does not fail
}

S3Connections::~S3Connections() = default;

S3Connections::Turn S3Connections::take(Duration within)
{
    std::unique_lock lock{mutex_};
    if (!freed_.wait_for(lock, within, [this] { return taken_ < most_; })) return {nullptr, {this}};
    if (idle_.empty()) idle_.push_back(std::make_unique<Connection>());
    Turn turn{idle_.back().release(), {this}};
    idle_.pop_back();
    ++taken_;
    return turn;
}

void S3Connections::give_back(Connection* connection)
{
    curl_easy_reset(connection->handle);  // its open connection stays, keys and addresses of memory go
    const std::lock_guard lock{mutex_};
    --taken_;
    idle_.emplace_back(connection);
    freed_.notify_one();
}

HttpReply S3Connections::exchange(const HttpRequest& request, const std::optional<Signature>& signature)
{
    const TimePoint begun = Clock::now();
    Headers headers;  // gone after the handle that refers to them
    const Turn turn = take(request.deadline);
    if (turn == nullptr) return {.failure = Failure::timed_out, .cause = "too many requests at once"};
    CURL* const handle = turn->handle;
    for (const std::string& header : request.headers) headers.add(header);
    set_method(handle, request, headers);
    set_limits(handle, request, request.deadline - (Clock::now() - begun));
    if (signature) set_signature(handle, request, *signature, headers);
    if (!ca_file_.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file_.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.list);
    Arriving arriving{.handle = handle, .request = &request, .reply = {}};
    const CURLcode code = perform(arriving);
    HttpReply reply = std::move(arriving.reply);
    reply.cause = cause_of(code, reply.cause);
    // What was cut off at a limit of ours was not cut by the store.
    reply.failure = code == CURLE_WRITE_ERROR && reply.too_long ? Failure::none : failure_of(code);
    if (reply.failure == Failure::timed_out) reply.failure = slower_than(request, arriving.connected, Clock::now() - begun);
    if (reply.failure == Failure::none) reply.cause.clear();
    return reply;
}

}  // namespace shoal::objectstore
