#include "common/cli/config_file.hpp"

#include <gmock/gmock.h>

namespace shoal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ConfigFile, TakesStringsNumbersTruthAndArrays)
{
    const auto entries = parse_config("# first\n\nmodel = \"a # b\\t\\\"\"  # after\ntimeout=5\nrate = 'C:\\n'\njson = true\r\ntracker = [ \"x\",\n  # "
                                      "inside\n  'y', 3,\n]\n\"quoted\" = -1.5\n");
    ASSERT_TRUE(entries) << entries.error().text();
    ASSERT_EQ(entries.value().size(), 6U);
    EXPECT_THAT(entries.value()[0].values, ElementsAre("a # b\t\""));
    EXPECT_THAT(entries.value()[1].values, ElementsAre("5"));
    EXPECT_THAT(entries.value()[2].values, ElementsAre("C:\\n"));
    EXPECT_THAT(entries.value()[3].values, ElementsAre("true"));
    EXPECT_THAT(entries.value()[4].values, ElementsAre("x", "y", "3"));
    EXPECT_EQ(entries.value()[5].key, "quoted");
    EXPECT_EQ(entries.value()[5].line, 11U);
}

TEST(ConfigFile, PutsTheTableInFrontOfItsKeys)
{
    const auto entries = parse_config("a = 1\n[publish]\na = 2\n");
    ASSERT_TRUE(entries);
    EXPECT_EQ(entries.value()[0].key, "a");
    EXPECT_EQ(entries.value()[1].key, "publish.a");
}

TEST(ConfigFile, NamesTheLineThatIsWrong)
{
    for (const char* wrong : {"model", "model =", "= 1", "model = llama", "model = \"x", "model = \"\\q\"", "model = [1, 2", "model = [1 2]", "model = 1 2",
             "[publish", "[]", "model = 1\nmodel = 2", "a = 2020-01-01T00:00:00Z", "a = {b = 1}"}) {
        const auto entries = parse_config("ok = 1\n" + std::string{wrong});
        ASSERT_FALSE(entries) << wrong;
        EXPECT_THAT(entries.error().message, testing::ContainsRegex("^line [23]: ")) << wrong;
    }
}

}  // namespace
}  // namespace shoal::cli
