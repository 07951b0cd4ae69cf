#include "common/objectstore/s3_retry.hpp"

#include <gtest/gtest.h>

namespace shoal::objectstore {
namespace {

HttpReply status(int code)
{
    return {.status = code};
}

TEST(S3Retry, TriesAgainWhatMayPass)
{
    for (const int code : {408, 429, 500, 502, 503, 504}) EXPECT_EQ(judge(status(code), ""), Verdict::again) << code;
    for (const int code : {200, 204, 206, 301, 400, 401, 403, 404, 412, 416, 501}) EXPECT_EQ(judge(status(code), ""), Verdict::answer) << code;
    EXPECT_EQ(judge(status(400), "RequestTimeout"), Verdict::again);
    EXPECT_EQ(judge(status(409), "ConditionalRequestConflict"), Verdict::again);
    EXPECT_EQ(judge(status(403), "RequestTimeTooSkewed"), Verdict::other_clock);
    EXPECT_EQ(judge(status(400), "ExpiredToken"), Verdict::other_keys);
    EXPECT_EQ(judge(status(307), ""), Verdict::other_address);
    for (const Failure failure : {Failure::unresolved, Failure::unreachable, Failure::reset, Failure::stalled, Failure::cut, Failure::timed_out})
        EXPECT_EQ(judge({.failure = failure}, ""), Verdict::again);
    EXPECT_EQ(judge({.failure = Failure::untrusted}, ""), Verdict::answer);
}

TEST(S3Retry, KnowsWhatCannotHaveHappened)
{
    EXPECT_FALSE(may_have_happened({.failure = Failure::unreachable}));
    EXPECT_FALSE(may_have_happened(status(429)));
    EXPECT_TRUE(may_have_happened({.failure = Failure::reset}));
    EXPECT_TRUE(may_have_happened(status(503)));
}

TEST(S3Retry, PausesGrowAreBoundedAndDiffer)
{
    Random random{1};
    for (unsigned attempt = 0; attempt < 100; ++attempt) {
        const Duration pause = pause_before(attempt, {}, random);
        EXPECT_LE(pause, std::chrono::milliseconds{5000});
        EXPECT_GE(pause, std::chrono::milliseconds{attempt > 7 ? 2500 : 50});
    }
    EXPECT_LE(pause_before(0, {}, random), std::chrono::milliseconds{100});
    EXPECT_NE(pause_before(9, {}, random), pause_before(9, {}, random));
    EXPECT_GE(pause_before(0, std::chrono::seconds{30}, random), std::chrono::seconds{30});
    EXPECT_LE(pause_before(0, std::chrono::seconds{30}, random), std::chrono::seconds{31});
}

TEST(S3Retry, ReadsRetryAfterInBothForms)
{
    EXPECT_EQ(parse_retry_after("30", 0), std::chrono::seconds{30});
    EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 20), std::chrono::seconds{40});
    EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 100), std::chrono::seconds{0});
    EXPECT_EQ(parse_retry_after("-5", 0), std::chrono::seconds{0});
    EXPECT_EQ(parse_retry_after("", 0), std::nullopt);
    EXPECT_EQ(parse_retry_after("soon", 0), std::nullopt);
    EXPECT_EQ(parse_retry_after("99999999999999999999", 0), std::nullopt);
}

TEST(S3Retry, ReadsDates)
{
    EXPECT_EQ(parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT"), 1445412480);
    EXPECT_EQ(parse_iso_date("2015-10-21T07:28:00Z"), 1445412480);
    EXPECT_EQ(parse_iso_date("2015-10-21T07:28:00.123Z"), 1445412480);
    EXPECT_EQ(parse_http_date("yesterday"), std::nullopt);
}

}  // namespace
}  // namespace shoal::objectstore
