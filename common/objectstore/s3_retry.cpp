#include "common/objectstore/s3_retry.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace shoal::objectstore {
namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{5000};

Verdict judge_failure(Failure failure)
{
    switch (failure) {
    case Failure::untrusted:
    case Failure::proxy:
    case Failure::interrupted:
    case Failure::other: return Verdict::answer;
    default: return Verdict::again;
    }
}

std::optional<std::int64_t> parse_date(const std::string& text, const char* format)
{
    std::tm fields{};
    const char* const end = ::strptime(text.c_str(), format, &fields);
    if (end == nullptr) return std::nullopt;
    return ::timegm(&fields);
}

}  // namespace

Verdict judge(const HttpReply& reply, const std::string& problem)
{
    if (reply.failure != Failure::none) return judge_failure(reply.failure);
    if (problem == "RequestTimeTooSkewed") return Verdict::other_clock;
    if (problem == "ExpiredToken" || problem == "ExpiredTokenException" || problem == "TokenRefreshRequired") return Verdict::other_keys;
    if (problem == "RequestTimeout" || problem == "SlowDown" || problem == "ConditionalRequestConflict" || problem == "OperationAborted") return Verdict::again;
    switch (reply.status) {
    case 307: return Verdict::other_address;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return Verdict::again;
    default: return Verdict::answer;
    }
}

bool may_have_happened(const HttpReply& reply)
{
    const bool never_sent = reply.failure == Failure::unresolved || reply.failure == Failure::unreachable;
    return reply.failure != Failure::none ? !never_sent : reply.status >= 500;
}

std::optional<std::chrono::seconds> parse_retry_after(const std::string& text, std::int64_t now)
{
    constexpr std::int64_t most = 24L * 3600;
    if (text.empty()) return std::nullopt;
    std::int64_t wait = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), wait);
    if (trouble != std::errc{} || end != text.data() + text.size()) {
        const auto date = parse_http_date(text);
        if (!date) return std::nullopt;
        wait = *date - now;
    }
    return std::chrono::seconds{std::clamp<std::int64_t>(wait, 0, most)};
}

Duration pause_before(unsigned attempt, std::optional<std::chrono::seconds> told, Random& random)
{
    const auto drawn = [&random](std::chrono::milliseconds least, std::chrono::milliseconds most) {
        return std::chrono::milliseconds{std::uniform_int_distribution<std::int64_t>{least.count(), most.count()}(random)};
    };
    if (told) return *told + drawn(std::chrono::milliseconds{0}, std::chrono::milliseconds{1000});
    const auto most = std::min(longest_pause, first_pause * (1L << std::min(attempt, 10U)));
    return drawn(most / 2, most);
}

std::optional<std::int64_t> parse_http_date(const std::string& text)
{
    return parse_date(text, "%a, %d %b %Y %H:%M:%S GMT");
}

std::optional<std::int64_t> parse_iso_date(const std::string& text)
{
    return parse_date(text, "%Y-%m-%dT%H:%M:%S");
}

}  // namespace shoal::objectstore
