#include "common/core/ids.hpp"
#include "common/core/random.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace shoal {
namespace {

TEST(Ids, ARevisionSurvivesItsText)
{
    const auto id = random_id<RevisionId>();
    EXPECT_EQ(parse_revision(to_string(id)).value(), id);
}

TEST(Ids, RefusesAnythingButSixtyFourLowerCaseDigits)
{
    const std::string good = to_string(RevisionId{});
    for (const std::string& text :
        {std::string{}, good.substr(7), good + "0", good.substr(0, good.size() - 1), "sha256:" + std::string(64, 'A'), "sha512:" + good.substr(7)}) {
        EXPECT_EQ(parse_revision(text).error().code, Errc::invalid) << text;
    }
}

TEST(Errors, AnErrnoBecomesTheExitCodePeopleExpect)
{
    EXPECT_EQ(exit_code(system_error(ENOENT, "read", "/x").code), 3);
    EXPECT_EQ(exit_code(system_error(EROFS, "write", "/x").code), 4);
    EXPECT_EQ(exit_code(system_error(EADDRINUSE, "listen", "[::]:80").code), 4);
    EXPECT_EQ(exit_code(system_error(ENOSPC, "write", "/x").code), 5);
    EXPECT_EQ(exit_code(system_error(EDQUOT, "write", "/x").code), 5);
    EXPECT_EQ(exit_code(system_error(EIO, "write", "/x").code), 1);
    EXPECT_EQ(system_error(EIO, "write", "/x").message, "write: /x: Input/output error");
}

}  // namespace
}  // namespace shoal
