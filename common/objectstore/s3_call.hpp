// One call to S3: signed, tried again where that may help, until its deadline. Any thread; blocks.
#pragma once

#include "common/core/result.hpp"
#include "common/objectstore/http_exchange.hpp"
#include "common/objectstore/s3_connections.hpp"
#include "common/objectstore/s3_credentials.hpp"
#include "common/objectstore/s3_request.hpp"
#include "common/objectstore/s3_retry.hpp"
#include "common/objectstore/s3_settings.hpp"
#include "common/objectstore/s3_xml.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::objectstore {

struct S3Limits {
    Duration call = std::chrono::seconds{60};         // all attempts of one call, and 1 s more for each 256 KiB
    Duration unreachable = std::chrono::seconds{20};  // from when an endpoint cannot be reached: it may come back
    Duration connect = std::chrono::seconds{5};
    Duration stall = std::chrono::seconds{10};
    unsigned attempts = 100;
};

struct S3Request {
    std::string method = "GET";
    std::string key = {};  // as callers of the store know it; empty: the bucket itself
    Query query = {};
    std::vector<std::string> headers = {};
    std::string_view body = {};
    MutableBytes out = {};
    std::size_t limit = 64U << 10U;
    std::function<bool(const HttpReply&)> acceptable = {};  // a good status that does not keep its word is tried again
    std::optional<Duration> stall = {};
    std::optional<Duration> within = {};  // instead of S3Limits::call
    bool to_the_end = false;              // also when all else is to end
};

struct S3Reply {
    HttpReply http;
    S3Problem problem;           // where the status is no good one
    bool may_be_second = false;  // an earlier attempt may have been done, and its answer lost
};

// What a call waits by; a test has its own.
struct S3Clock {
    std::function<TimePoint()> now = [] { return Clock::now(); };
    std::function<std::int64_t()> time_of_day;
    std::function<void(Duration)> pause;
    std::function<bool()> keep_going = [] { return true; };  // asked several times a second; once it says no, calls end
    static S3Clock real(const std::function<bool()>& keep_going = [] { return true; });
};

class S3Caller {
public:
    S3Caller(S3Location location, S3Settings settings, Environment environment, S3Limits limits, S3Clock clock);

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] const S3Location& location() const { return location_; }
    [[nodiscard]] std::string name_of(const std::string& key) const;

    // Whatever the store answers. timed_out: nothing of use until the deadline; interrupted; not_allowed: no credentials, or an endpoint that cannot be trusted.
    Result<S3Reply> call(const S3Request& request);
    // What an answer that is no good means: not_found, not_allowed, no_space, invalid, io.
    [[nodiscard]] Error error_of(const S3Reply& reply, const std::string& key) const;

private:
    struct Attempts;
    [[nodiscard]] HttpRequest written(const S3Request& request, const std::string& address) const;
    [[nodiscard]] Signature signature_of(const SigningKeys& keys) const;
    Result<Verdict> attempt(const S3Request& request, Attempts& attempts, S3Reply& reply);
    Result<void> wait(Attempts& attempts, const S3Reply& reply, const std::string& key);
    Result<void> prepare_again(Verdict verdict, Attempts& attempts, const S3Reply& reply);
    [[nodiscard]] Error interrupted_error(const std::string& key) const;
    [[nodiscard]] Error given_up(const Attempts& attempts, const S3Reply& reply, const std::string& key) const;
    [[nodiscard]] std::string endpoint_text() const { return settings_.endpoint.scheme + "://" + settings_.endpoint.host; }

    S3Location location_;
    S3Settings settings_;
    S3Limits limits_;
    S3Clock clock_;
    std::string url_;
    S3Connections connections_;
    CredentialSource credentials_;
    std::atomic<std::int64_t> skew_{0};  // seconds that the store's clock is before ours
};

}  // namespace shoal::objectstore
