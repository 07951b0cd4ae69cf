#include "common/objectstore/s3_call.hpp"

#include "common/model/names.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

namespace shoal::objectstore {
namespace {

constexpr unsigned most_redirects = 3;
constexpr Duration look_every = std::chrono::milliseconds{100};  // whether a pause is to go on
constexpr std::uint64_t slowest = 256U << 10U;                   // bytes per second that a call's deadline grows by

bool is_away(Failure failure)
{
    return failure == Failure::unresolved || failure == Failure::unreachable;
}

std::string problem_text(const S3Reply& reply)
{
    std::string text = "status " + std::to_string(reply.http.status);
    if (!reply.problem.code.empty()) text += " " + model::printable(reply.problem.code);
    if (!reply.problem.message.empty()) text += ", " + model::printable(reply.problem.message);
    return text;
}

std::string last_text(const S3Reply& reply)
{
    switch (reply.http.failure) {
    case Failure::none:
        return reply.http.ok() ? "an answer that is not what was asked for (status " + std::to_string(reply.http.status) + ")" : problem_text(reply);
    case Failure::stalled: return "stalled after " + std::to_string(reply.http.received) + " bytes";
    case Failure::cut: return "cut short after " + std::to_string(reply.http.received) + " bytes";
    default: return model::printable(reply.http.cause);
    }
}

std::string refused_hint(const S3Reply& reply, bool clock)
{
    const std::string& code = reply.problem.code;
    if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch") return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile";
    if (code == "ExpiredToken" || code == "InvalidToken") return "renew AWS_SESSION_TOKEN and its keys";
    if (clock) return "set this machine's clock";
    return "give these credentials the permissions of docs/operations.md";
}

}  // namespace

S3Clock S3Clock::real(const std::function<bool()>& keep_going)
{
    const auto pause = [keep_going](Duration duration) {
        for (const TimePoint end = Clock::now() + duration; Clock::now() < end && keep_going();)
            std::this_thread::sleep_for(std::min<Duration>(look_every, end - Clock::now()));
    };
    return {[] { return Clock::now(); }, [] { return static_cast<std::int64_t>(std::time(nullptr)); }, pause, keep_going};
}

struct S3Caller::Attempts {
    TimePoint begun;
    TimePoint deadline;
    std::optional<TimePoint> away_since = {};
    unsigned made = 0;
    unsigned redirects = 0;
    bool newer_keys = false;
    bool newer_clock = false;
    SigningKeys keys;
    std::string address;
    Random random{random_seed()};
};

S3Caller::S3Caller(S3Location location, S3Settings settings, Environment environment, S3Limits limits, S3Clock clock)
    : location_{std::move(location)},
      settings_{std::move(settings)},
      limits_{limits},
      clock_{std::move(clock)},
      url_{s3_url(location_)},
      connections_{settings_.ca_file},
      credentials_{std::move(environment), [this](const HttpRequest& request) { return connections_.exchange(request); }, settings_.region}
{}

std::string S3Caller::name_of(const std::string& key) const
{
    return key.empty() ? url_ : url_ + " key '" + model::printable(key) + "'";
}

HttpRequest S3Caller::written(const S3Request& request, const std::string& address) const
{
    return {.method = request.method,
        .url = address,
        .headers = request.headers,
        .body = request.body,
        .out = request.out,
        .limit = request.limit,
        .connect_deadline = limits_.connect,
        .stall = request.stall.value_or(limits_.stall),
        .keep_going = request.to_the_end ? std::function<bool()>{} : clock_.keep_going};
}

// The date is curl's to write where it can: of one that it is given it sends two.
Signature S3Caller::signature_of(const SigningKeys& keys) const
{
    const std::int64_t skew = skew_;
    return {keys, settings_.region, skew == 0 ? std::nullopt : std::optional{clock_.time_of_day() + skew}};
}

// What must be other before the next attempt. Fails where there is nothing left to try.
Result<void> S3Caller::prepare_again(Verdict verdict, Attempts& attempts, const S3Reply& reply)
{
    const std::int64_t now = clock_.time_of_day();
    if (verdict == Verdict::other_keys && !attempts.newer_keys) {
        attempts.newer_keys = true;
        BOOST_OUTCOME_TRY(credentials_.newer_than(attempts.keys, now));
        return success();
    }
    if (verdict == Verdict::other_clock && !attempts.newer_clock) {
        attempts.newer_clock = true;
        const auto date = parse_http_date(reply.http.header("date"));
        if (date) skew_ = *date - now;
        return success();
    }
    const std::string location = reply.http.header("location");
    if (verdict == Verdict::other_address && ++attempts.redirects <= most_redirects && may_follow(settings_.endpoint, location)) {
        attempts.address = location;
        return success();
    }
    return failure(Errc::not_allowed, {});
}

Error S3Caller::given_up(const Attempts& attempts, const S3Reply& reply, const std::string& key) const
{
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - attempts.begun).count();
    const std::string tries =
        std::to_string(attempts.made) + (attempts.made == 1 ? " attempt in " : " attempts in ") + std::to_string((passed + 500) / 1000) + " s";
    const std::string hint = is_away(reply.http.failure) ? "check AWS_ENDPOINT_URL and that the endpoint runs" : "try again later";
    return {Errc::timed_out, "store does not answer: " + name_of(key) + " at " + endpoint_text() + ": " + tries + ", the last: " + last_text(reply), hint};
}

Result<S3Reply> S3Caller::call(const S3Request& request)
{
    Attempts attempts;
    attempts.begun = clock_.now();
    const auto bytes = request.out.size() + request.body.size() + request.limit;
    attempts.deadline = attempts.begun + request.within.value_or(limits_.call + std::chrono::seconds{bytes / slowest});
    const std::string full_key = request.key.empty() ? "" : location_.prefix + request.key;
    attempts.address = object_url(settings_.endpoint, settings_.addressing, location_.bucket, full_key, request.query);
    S3Reply reply;
    while (true) {
        BOOST_OUTCOME_TRY(verdict, attempt(request, attempts, reply));
        if (verdict == Verdict::answer && reply.http.failure == Failure::none) return reply;
        if (verdict == Verdict::again) {
            BOOST_OUTCOME_TRY(wait(attempts, reply, request.key));
        } else if (verdict == Verdict::answer || !prepare_again(verdict, attempts, reply)) {
            return failure(error_of(reply, request.key));
        }
    }
}

Result<Verdict> S3Caller::attempt(const S3Request& request, Attempts& attempts, S3Reply& reply)
{
    if (!request.to_the_end && !clock_.keep_going()) return failure(interrupted_error(request.key));
    const auto keys = credentials_.current(clock_.time_of_day());
    if (!keys) return failure(keys.error().code, name_of(request.key) + ": " + keys.error().message, keys.error().hint);
    attempts.keys = keys.value().keys;
    HttpRequest http = written(request, attempts.address);
    const TimePoint tried = clock_.now();
    http.deadline = std::max<Duration>(attempts.deadline - tried, std::chrono::milliseconds{1});
    reply.http = connections_.exchange(http, signature_of(attempts.keys));
    ++attempts.made;
    reply.problem = reply.http.ok() ? S3Problem{} : decode_problem(reply.http.body);
    if (!is_away(reply.http.failure))
        attempts.away_since.reset();
    else if (!attempts.away_since)
        attempts.away_since = tried;
    Verdict verdict = judge(reply.http, reply.problem.code);
    if (reply.http.ok() && request.acceptable && !request.acceptable(reply.http)) verdict = Verdict::again;
    if (verdict != Verdict::answer) reply.may_be_second = reply.may_be_second || may_have_happened(reply.http);
    return verdict;
}

// Until it may be tried again. Fails where that is too late.
Result<void> S3Caller::wait(Attempts& attempts, const S3Reply& reply, const std::string& key)
{
    const Duration pause = pause_before(attempts.made - 1, parse_retry_after(reply.http.header("retry-after"), clock_.time_of_day()), attempts.random);
    const TimePoint last = attempts.away_since ? std::min(attempts.deadline, *attempts.away_since + limits_.unreachable) : attempts.deadline;
    if (clock_.now() + pause >= last || attempts.made >= limits_.attempts) return failure(given_up(attempts, reply, key));
    clock_.pause(pause);
    return success();
}

Error S3Caller::interrupted_error(const std::string& key) const
{
    return {Errc::interrupted, "interrupted: " + name_of(key), "run it again: what was finished is kept"};
}

Error S3Caller::error_of(const S3Reply& reply, const std::string& key) const
{
    const std::string& code = reply.problem.code;
    const std::string on = name_of(key) + ": ";
    if (reply.http.failure == Failure::interrupted) return interrupted_error(key);
    if (reply.http.failure == Failure::untrusted)
        return {Errc::not_allowed, "endpoint is not trusted: " + endpoint_text() + ": " + on + last_text(reply),
            "correct AWS_ENDPOINT_URL, or name its CA in AWS_CA_BUNDLE"};
    if (reply.http.failure != Failure::none)
        return {Errc::io, "cannot reach the store: " + endpoint_text() + ": " + on + last_text(reply), "check AWS_ENDPOINT_URL and HTTPS_PROXY"};
    if (code == "QuotaExceeded" || reply.http.status == 507)
        return {Errc::no_space, "store is full: " + on + problem_text(reply), "raise its quota, or remove revisions"};
    const std::string region = reply.http.header("x-amz-bucket-region");
    if (reply.http.status / 100 == 3 || code == "AuthorizationHeaderMalformed")
        return {Errc::invalid, "store is elsewhere: " + on + problem_text(reply),
            region.empty() ? "correct AWS_REGION and AWS_ENDPOINT_URL" : "set AWS_REGION to " + model::printable(region)};
    const bool clock = code == "RequestTimeTooSkewed";
    if (reply.http.status == 401 || reply.http.status == 403 || code == "ExpiredToken" || code == "InvalidToken")
        return {Errc::not_allowed, "store refuses: " + on + problem_text(reply), refused_hint(reply, clock)};
    if (code == "NoSuchBucket") return {Errc::io, "store is gone: " + url_ + ": " + problem_text(reply), "restore its bucket"};
    if (reply.http.status == 404) return {Errc::not_found, "object not found: " + name_of(key), {}};
    return {Errc::io, "store answers with an error: " + on + problem_text(reply), {}};
}

}  // namespace shoal::objectstore
