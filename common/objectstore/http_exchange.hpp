// One HTTP request and what came of it, as the store and the credentials see it. Values.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::objectstore {

// What a request is signed with.
struct SigningKeys {
    std::string id;
    std::string secret;
    std::string token;  // of a session; empty: none
    bool operator==(const SigningKeys&) const = default;
};

struct HttpRequest {
    std::string method = "GET";
    std::string url = {};
    std::vector<std::string> headers = {};  // "name: value", names in lower case
    std::string_view body = {};             // outlives the exchange
    MutableBytes out = {};                  // where a good reply's body goes; empty: into the reply's own
    std::size_t limit = 64U << 10U;         // of the reply's own body; what is longer is cut off there
    Duration deadline = std::chrono::seconds{5};
    Duration connect_deadline = std::chrono::seconds{5};
    Duration stall = std::chrono::seconds{10};  // below 1 KiB/s for so long is a stall
    bool direct = false;                        // past any proxy
    std::function<bool()> keep_going = {};      // asked once a second, if there is one; false ends it
};

// Why there is no whole reply.
enum class Failure { none, unresolved, unreachable, untrusted, proxy, reset, stalled, cut, timed_out, interrupted, other };

struct HttpReply {
    Failure failure = Failure::none;
    std::string cause = {};  // of the failure, for people
    int status = 0;          // 0: none came
    std::map<std::string, std::string> headers = {};
    std::string body = {};
    std::uint64_t received = 0;  // bytes of body, also beyond a limit
    bool too_long = false;       // there was more than the limit, or than `out` holds

    [[nodiscard]] bool ok() const { return failure == Failure::none && status >= 200 && status < 300; }
    [[nodiscard]] std::string header(const std::string& name) const
    {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string{} : found->second;
    }
};

// How a request is made: by S3Connections, or by a test.
using Exchange = std::function<HttpReply(const HttpRequest& request)>;

}  // namespace shoal::objectstore
