#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"

#include "common/crypto/sha256.hpp"

#include <gtest/gtest.h>

namespace shoal::objectstore {
namespace {

RevisionId some_revision()
{
    return parse_revision("sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef").value();
}

model::Manifest two_files()
{
    model::Manifest manifest;
    manifest.files.resize(2);
    return manifest;
}

TEST(Keys, AreThoseOfTheFormat)
{
    const RevisionId id = some_revision();
    const std::string hex = to_hex(id);
    EXPECT_EQ(manifest_key(id), "manifests/" + hex + ".json");
    EXPECT_EQ(layers_key(id), "layers/" + hex);
    EXPECT_EQ(location_key(id), "locations/" + hex + ".json");
    EXPECT_EQ(blob_key(Digest{id.bytes}), "blobs/01/" + hex);
    EXPECT_EQ(tag_key("meta-llama/Llama-3.1-8B", "prod"), "models/meta-llama~Llama-3.1-8B/tags/prod");
    EXPECT_EQ(revision_key("llama", id), "models/llama/revisions/" + hex);
}

TEST(Records, AnEncodedLocationDecodesToItself)
{
    const Location source{"file:///src/100%25 \xC3\xBC", {{"a b#.bin", "1-2-3"}, {"e\xCC\x81/\"quoted\"\n", ""}}};
    const auto back = decode_location(encode(source), two_files());
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back.value().root, source.root);
    ASSERT_EQ(back.value().files.size(), 2U);
    EXPECT_EQ(back.value().files[1].key, source.files[1].key);
    EXPECT_EQ(back.value().files[0].version, "1-2-3");
    EXPECT_EQ(decode_location(encode(Location{}), two_files()).value().files.size(), 0U);
}

TEST(Records, ALocationThatDoesNotFitIsMalformed)
{
    const char* const wrong[] = {"", "null", "[]", "{}", "{", R"({"schema":1,"root":""})", R"({"schema":2,"root":"","files":[]})",
        R"({"schema":1,"root":1,"files":[]})", R"({"schema":1.0,"root":"","files":[]})", R"({"schema":1,"root":"","files":{}})",
        R"({"schema":1,"root":"","files":[],"more":1})", R"({"schema":1,"root":"file:///s","files":[]})",
        R"({"schema":1,"root":"file:///s","files":[{"key":"a","version":"1"}]})",
        R"({"schema":1,"root":"file:///s","files":[{"key":"a","version":"1"},{"key":2,"version":"1"}]})",
        R"({"schema":1,"root":"file:///s","files":[{"key":"a","version":"1"},{"key":"b"}]})",
        R"({"schema":1,"root":"","files":[{"key":"a","version":"1"},{"key":"b","version":"1"}]})"};
    for (const char* bytes : wrong) {
        const auto location = decode_location(bytes, two_files());
        ASSERT_FALSE(location) << bytes;
        EXPECT_EQ(location.error().code, Errc::malformed) << bytes;
    }
}

TEST(Records, APointerHoldsOneRevisionAndNothingElse)
{
    EXPECT_EQ(encode_pointer(some_revision()), R"({"revision":")" + to_string(some_revision()) + R"("})");
    EXPECT_EQ(decode_pointer(encode_pointer(some_revision())).value(), some_revision());
    for (const std::string& bytes : {std::string{}, std::string{"{}"}, std::string{R"({"revision":"sha256:12"})"}, std::string{R"({"revision":7})"},
             encode_pointer(some_revision()).insert(1, R"("x":1,)"), encode_pointer(some_revision()) + "x", std::string(50, '\0')})
        EXPECT_EQ(decode_pointer(bytes).error().code, Errc::malformed) << bytes;
    EXPECT_EQ(decode_pointer(std::string(5000, ' ')).error().code, Errc::too_large);
}

}  // namespace
}  // namespace shoal::objectstore
