#include "common/cli/progress.hpp"

#include <gmock/gmock.h>

namespace shoal::cli {
namespace {

using namespace std::chrono_literals;

Progress at(std::uint64_t bytes)
{
    return {"fetching llama", bytes, 4ULL << 30U, 100'000'000, "12 % from origin, 88 % from peers"};
}

TEST(Progress, SaysBytesShareRateTimeLeftAndDetail)
{
    EXPECT_EQ(ProgressLine::line(at(1ULL << 30U)), "fetching llama: 1.0 GiB of 4.0 GiB (25 %), 100 MB/s, 33s left, 12 % from origin, 88 % from peers");
}

TEST(Progress, C67_NeverShowsMoreThanAll_NorAllBeforeTheEnd)
{
    EXPECT_THAT(ProgressLine::line({"x", 9, 3, 0, ""}), testing::HasSubstr("(100 %)"));
    EXPECT_THAT(ProgressLine::line({"x", 999'999, 1'000'000, 0, ""}), testing::HasSubstr("(99 %)"));
    EXPECT_THAT(ProgressLine::line({"x", 0, 0, 0, ""}), testing::HasSubstr("(0 %)"));
    EXPECT_THAT(ProgressLine::line({"x", 0, ~0ULL, 1, ""}), testing::HasSubstr("left"));
}

TEST(Progress, C53_IsAPlainLineEveryIntervalWhereThereIsNoTerminal)
{
    testing::internal::CaptureStderr();
    ProgressLine progress{10s};
    const TimePoint begin = TimePoint{} + 1h;
    for (int second = 0; second <= 25; ++second) progress.show(at(1), begin + std::chrono::seconds{second});
    progress.finish();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3);
    EXPECT_EQ(said.find_first_of("\r\x1b"), std::string::npos);
}

}  // namespace
}  // namespace shoal::cli
