#include "common/cli/process.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace shoal::cli {
namespace {

// The alarm goes off at once: nobody waits for what hangs.
void hang(std::initializer_list<int> codes)
{
    for (const int code : codes) exit_by_alarm(code);
    std::raise(SIGALRM);
}

TEST(ExitByAlarm, EndsAProcessThatHangsWithTheLastCode)
{
    EXPECT_EXIT(hang({3}), testing::ExitedWithCode(3), "");
    EXPECT_EXIT(hang({0}), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(hang({143, 7}), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace shoal::cli
