#include "common/obs/log.hpp"

#include <gmock/gmock.h>

namespace shoal::obs {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class LogTest : public testing::Test {
protected:
    ~LogTest() override { configure_log(Level::info, Format::text); }
    static std::string said(Level level, std::string_view message, const Fields& fields = {})
    {
        testing::internal::CaptureStderr();
        log(level, message, fields);
        return testing::internal::GetCapturedStderr();
    }
};

TEST_F(LogTest, IsOneLineOfTimeLevelMessageAndFields)
{
    configure_log(Level::info, Format::text);
    EXPECT_THAT(said(Level::info, "fetch resolved", {{"model", "llama"}, {"path", "a b"}, {"none", ""}}),
        ContainsRegex("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z info  fetch resolved model=llama path=\"a b\" none=\"\"\n$"));
}

TEST_F(LogTest, CannotBeForgedByWhatItIsTold)
{
    configure_log(Level::info, Format::text);
    const std::string text = said(Level::info, "a\nb", {{"name", "x\r\n\x1b[31m\" y=1"}});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_THAT(text, testing::AllOf(HasSubstr("a\\x0ab"), HasSubstr("name=\"x\\x0d\\x0a\\x1b[31m\\\" y=1\"")));
    configure_log(Level::info, Format::json);
    const std::string json = said(Level::info, "100% {x} \"a\"\n", {{"bad", "\xff\xc3(\xc3\xa9"}});
    EXPECT_THAT(json, testing::AllOf(HasSubstr(R"("message":"100% {x} \"a\"\u000a")"), HasSubstr("\"bad\":\"\\ufffd\\ufffd(\xc3\xa9\"}\n")));
}

TEST_F(LogTest, IsOneJsonObjectALineWhereAsked)
{
    configure_log(Level::debug, Format::json);
    EXPECT_THAT(said(Level::debug, "x", {{"k", "v"}}), ContainsRegex("^\\{\"time\":\"[^\"]*Z\",\"level\":\"debug\",\"message\":\"x\",\"k\":\"v\"\\}\n$"));
}

TEST_F(LogTest, LeavesOutWhatIsBelowTheLevel)
{
    configure_log(Level::warning, Format::text);
    EXPECT_EQ(said(Level::info, "x"), "");
    EXPECT_NE(said(Level::warning, "x"), "");
    EXPECT_NE(said(Level::error, "x"), "");
}

}  // namespace
}  // namespace shoal::obs
