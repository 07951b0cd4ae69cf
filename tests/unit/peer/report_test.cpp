// What --json prints: the fields that parsers hold on to.
#include "peer/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace shoal::peer {
namespace {

using nlohmann::json;

// The progress event of a fetch that is so far.
json told(const FetchProgress& progress)
{
    Report report{Output::json, std::chrono::milliseconds{0}};
    testing::internal::CaptureStdout();
    report.progress(progress, Clock::now());
    return json::parse(testing::internal::GetCapturedStdout());
}

TEST(Report, ProgressHasItsFieldsAtAnyRate)
{
    for (const std::uint64_t rate : {std::uint64_t{0}, std::uint64_t{7}}) {
        const json event = told({.bytes = 10, .total = 100, .rate = rate});
        EXPECT_EQ(event["event"], "progress");
        for (const char* field : {"bytes", "total", "rate", "from_peers", "from_origin", "reused", "eta_s"})
            EXPECT_TRUE(event.contains(field)) << field << " at rate " << rate;
    }
}

TEST(Report, TheTimeThatIsLeftIsNullWhileNothingComes)
{
    EXPECT_TRUE(told({.bytes = 10, .total = 100, .rate = 0})["eta_s"].is_null());
    EXPECT_EQ(told({.bytes = 10, .total = 100, .rate = 7})["eta_s"], 12);
    EXPECT_EQ(told({.bytes = 100, .total = 100, .rate = 0})["eta_s"], 0);
    EXPECT_EQ(told({.bytes = 0, .total = 0, .rate = 0})["eta_s"], 0);
}

}  // namespace
}  // namespace shoal::peer
