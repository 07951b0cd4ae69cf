#include "peer/marker.hpp"

#include <gtest/gtest.h>

namespace shoal::peer {
namespace {

Marker sample()
{
    Marker marker;
    marker.model = "org/llama";
    marker.revision.bytes.fill(7);
    marker.tag = "prod";
    marker.include = {"*.json"};
    marker.whole = false;
    marker.bytes = 12;
    marker.time = "2026-01-02T03:04:05Z";
    marker.by = "shoal-peer on node";
    marker.files = {{"a b/\"c\".json", 12, -5, 99}, {"ü", 0, 1'700'000'000'123'456'789, 100}};
    marker.manifest = "{\"x\":1}";
    marker.layers = std::string(64, '\xfe');
    return marker;
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Marker, ComesBackAsItWasWritten)
{
    const auto decoded = decode_marker(encode(sample()));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded.value(), sample());
}

TEST(Marker, IgnoresKeysItDoesNotKnow)
{
    const auto decoded = decode_marker(replaced(encode(sample()), "{\"schema\":1", "{\"later\":[1],\"schema\":1"));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded.value(), sample());
}

TEST(Marker, C82_RefusesWhatIsZeroedCutOrGarbled)
{
    const std::string good = encode(sample());
    for (const std::string& bad :
        std::vector<std::string>{std::string{}, std::string(good.size(), '\0'), good.substr(0, good.size() / 2), good + good, "null", "[]", "{}"})
        EXPECT_EQ(decode_marker(bad).error().code, Errc::malformed) << bad.substr(0, 40);
}

TEST(Marker, RefusesValuesOfTheWrongKind)
{
    const std::string good = encode(sample());
    for (const auto& [from, to] :
        std::vector<std::pair<std::string, std::string>>{{"\"schema\":1", "\"schema\":2"}, {"\"bytes\":12", "\"bytes\":-1"}, {"\"whole\":false", "\"whole\":0"},
            {"org/llama", "../llama"}, {"sha256:07", "sha256:G7"}, {"\"inode\":99", "\"inode\":1.5"}, {"\"path\":\"ü\"", "\"path\":\"../u\""},
            {"\"path\":\"ü\"", "\"path\":\"a b/\\\"c\\\".json\""}, {"[\"*.json\"]", "[1]"}, {"\"mtime_ns\":-5", "\"mtime_ns\":18446744073709551615"}})
        EXPECT_FALSE(decode_marker(replaced(good, from, to))) << to;
}

TEST(Marker, RefusesDeepNestingAndWhatIsTooLarge)
{
    EXPECT_EQ(decode_marker(std::string(100'000, '[')).error().code, Errc::malformed);
    EXPECT_EQ(decode_marker(std::string(max_marker_bytes + 1, ' ')).error().code, Errc::too_large);
}

}  // namespace
}  // namespace shoal::peer
