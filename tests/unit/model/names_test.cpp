#include "common/model/names.hpp"

#include "common/core/utf8.hpp"

#include <gmock/gmock.h>

#include <string>

namespace shoal::model {
namespace {

using ::testing::HasSubstr;

TEST(ModelName, HasPartsThatBeginWithALetterOrDigit)
{
    for (const char* good : {"llama", "meta-llama/Llama-3.1-8B", "a", "0/1/2", "a..b", "x_y.z-"}) EXPECT_TRUE(check_model_name(good)) << good;
    for (const char* bad : {"", "/", "a/", "/a", "a//b", "..", "a/../b", ".a", "-a", "_a", "a b", "a~b", "a:b", "ä", "a\\b", "<img src=x onerror=alert(1)>"})
        EXPECT_FALSE(check_model_name(bad)) << bad;
    EXPECT_TRUE(check_model_name(std::string(255, 'a')));
    EXPECT_FALSE(check_model_name(std::string(256, 'a')));
    EXPECT_FALSE(check_model_name(std::string_view("a\0b", 3)));
}

TEST(ModelName, RefusalIsAUsageErrorThatNamesIt)
{
    const auto refused = check_model_name("a b");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("'a b'"));
}

TEST(Tag, C69_IsAWord)
{
    for (const char* good : {"prod", "v1.2", "A_b-c", "7"}) EXPECT_TRUE(check_tag(good)) << good;
    for (const char* bad : {"", ".hidden", "-x", "a/b", "a b", "é", "<img src=x onerror=alert(1)>"}) EXPECT_FALSE(check_tag(bad)) << bad;
    EXPECT_TRUE(check_tag(std::string(128, 'a')));
    EXPECT_FALSE(check_tag(std::string(129, 'a')));
}

TEST(Path, C06_MayHoldWhatFilesystemsAllow)
{
    for (const char* good : {"a", "a/b", " a ", "#", "+", "%2F", "?", "*", "[x]", "~", "$", "\"'", "a\xc2\xa0", "\xe2\x80\xae", "\xe3\x80\x80", "\xe2\x80\x8e",
             "\x7f", "a\nb", "-rf", "...", ".hidden", "a/.shoal", "caf\xc3\xa9", "cafe\xcc\x81", "\xf0\x9f\x90\x8b"})
        EXPECT_TRUE(check_path(good)) << printable(good);
}

TEST(Path, C83_StaysInTheTreeAndIsOneWayToWriteIt)
{
    for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/./b", "a/..", "../a", "a\\b"}) EXPECT_FALSE(check_path(bad)) << bad;
    EXPECT_FALSE(check_path(std::string_view("a\0b", 3)));
}

TEST(Path, KeepsOutOfShoalsOwnNames)
{
    for (const char* bad : {".shoal", ".shoal/x", ".shoal.json", ".shoalish/x"}) EXPECT_FALSE(check_path(bad)) << bad;
}

TEST(Path, HasLimits)
{
    EXPECT_TRUE(check_path(std::string(255, 'n')));
    EXPECT_FALSE(check_path(std::string(256, 'n')));
    EXPECT_FALSE(check_path("a/" + std::string(256, 'n') + "/b"));
    std::string deep = "a";
    for (std::size_t part = 1; part < max_path_parts; ++part) deep += "/a";
    EXPECT_TRUE(check_path(deep));
    EXPECT_FALSE(check_path(deep + "/a"));
    std::string longest;  // 16 parts of 255 and their slashes
    for (int part = 0; part < 16; ++part) longest += std::string(255, 'n') + "/";
    longest.pop_back();
    EXPECT_TRUE(check_path(longest));
    EXPECT_FALSE(check_path(longest + "/n"));
}

TEST(Path, RefusalIsOneLineWhateverTheName)
{
    const auto refused = check_path("a\n\x1b[2J/../" + std::string(5000, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
    EXPECT_THAT(refused.error().message, HasSubstr("a\\x0a\\x1b[2J"));
    EXPECT_LT(refused.error().message.size(), 1000U);
}

TEST(Utf8, IsStrict)
{
    for (const char* good : {"", "a", "\xc2\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) EXPECT_TRUE(is_utf8(good)) << printable(good);
    for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
             "\xff", "\xe2\x82", "\xc2\x41", "a\xe2\x82z"})
        EXPECT_FALSE(is_utf8(bad)) << printable(bad);
}

TEST(Printable, TellsNamesApartThatLookAlike)
{
    EXPECT_EQ(printable("plain é"), "plain é");
    EXPECT_EQ(printable("a\\x0a"), "a\\x5cx0a");
    EXPECT_EQ(printable("a\n'\"\x7f\xff"), "a\\x0a\\x27\\x22\\x7f\\xff");
    EXPECT_EQ(printable("\xe2\x80\xae\xc2\x9b"), "\\xe2\\x80\\xae\\xc2\\x9b");
}

TEST(FlatName, HasNoSlash)
{
    EXPECT_EQ(flat_name("meta-llama/Llama"), "meta-llama~Llama");
}

TEST(Glob, StarCrossesSlashes)
{
    EXPECT_TRUE(glob_matches("*.safetensors", "a/b/c.safetensors"));
    EXPECT_TRUE(glob_matches("*", ".hidden/x"));
    EXPECT_FALSE(glob_matches("*.json", "a.json.bak"));
}

TEST(Glob, TrailingSlashMeansTheDirectory)
{
    EXPECT_TRUE(glob_matches("original/", "original/params.json"));
    EXPECT_TRUE(glob_matches("original/", "original/deep/x"));
    EXPECT_FALSE(glob_matches("original/", "original"));
    EXPECT_FALSE(glob_matches("original/", "x/original/y"));
}

TEST(Glob, QuestionMarkIsOneCharacterAndBracketsAreASet)
{
    EXPECT_TRUE(glob_matches("model-0000?.bin", "model-00001.bin"));
    EXPECT_TRUE(glob_matches("caf?", "caf\xc3\xa9"));
    EXPECT_FALSE(glob_matches("caf?", "cafe\xcc\x81"));
    EXPECT_TRUE(glob_matches("[a-c]x", "bx"));
    EXPECT_FALSE(glob_matches("[!a-c]x", "bx"));
    EXPECT_TRUE(glob_matches("[!a-c]x", "/x"));
    EXPECT_TRUE(glob_matches("[]]", "]"));
    EXPECT_TRUE(glob_matches("[\xc3\xa0-\xc3\xbc]", "\xc3\xa9"));
    EXPECT_TRUE(glob_matches("[x", "[x"));
}

TEST(Glob, ManyStarsDoNotTakeForEver)
{
    std::string glob;
    for (int star = 0; star < 40; ++star) glob += "*a";
    EXPECT_FALSE(glob_matches(glob + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace shoal::model
