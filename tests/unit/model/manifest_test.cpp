#include "common/model/manifest.hpp"

#include "common/crypto/sha256.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <string>

namespace shoal::model {
namespace {

using ::testing::HasSubstr;

Digest digest_of(const std::string& text)
{
    return crypto::sha256(as_bytes(text));
}

File file(const std::string& path, std::uint64_t size)
{
    return size == 0 ? File{path, 0, {}, digest_of("")} : File{path, size, digest_of("root of " + path), digest_of("content of " + path)};
}

Manifest manifest_of(std::vector<File> files)
{
    Manifest manifest;
    manifest.model = "llama";
    manifest.files = std::move(files);
    return manifest;
}

// As publish would: whatever packs the sizes give.
void add_packs(Manifest& manifest)
{
    std::vector<std::uint64_t> sizes;
    for (const File& entry : manifest.files) sizes.push_back(entry.size);
    for (auto& files : pack_files(sizes, manifest.piece_size)) {
        Pack pack{std::move(files), 0, digest_of("pack")};
        for (const FileIndex index : pack.files) pack.size += sizes[index.value];
        manifest.packs.push_back(std::move(pack));
    }
}

Manifest packed_manifest()
{
    Manifest manifest;
    manifest.model = "llama";
    for (int i = 100; i < 400; ++i) manifest.files.push_back(file("f" + std::to_string(i), 10));
    add_packs(manifest);
    return manifest;
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const std::size_t at = text.find(from);
    if (at == std::string::npos) ADD_FAILURE() << "no " << from << " in " << text;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

Error refusal(const std::string& bytes)
{
    const auto decoded = decode_manifest(bytes);
    if (decoded) ADD_FAILURE() << "decoded: " << bytes;
    return decoded ? Error{} : decoded.error();
}

TEST(Manifest, IsCanonicalJson)
{
    Manifest manifest = manifest_of({file("a\n\"é", 0)});
    manifest.annotations = {{"b", "2"}, {"B", "1"}};
    manifest.data_version = "d";
    EXPECT_EQ(encode(manifest), "{\"annotations\":{\"B\":\"1\",\"b\":\"2\"},\"data_version\":\"d\",\"files\":[{\"path\":\"a\\n\\\"é\",\"sha256\":\""
                                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"size\":0}],\"model\":\"llama\",\"packs\":[],"
                                "\"piece_size\":262144,\"schema\":1,\"transform_version\":\"\"}");
}

TEST(Manifest, ComesBackAsItWas)
{
    for (Manifest manifest : {manifest_of({file("a", 5), file("b/c", 300'000), file("d", 0)}), packed_manifest()}) {
        manifest.annotations = {{"org.example/owner", "a\\b\x01\x7f"}};
        manifest.transform_version = "fp8";
        const std::string bytes = encode(manifest);
        const auto decoded = decode_manifest(bytes);
        ASSERT_TRUE(decoded) << decoded.error().text();
        EXPECT_EQ(decoded.value(), manifest);
        EXPECT_EQ(encode(decoded.value()), bytes);
    }
}

TEST(Manifest, RevisionIsItsSha256)
{
    EXPECT_EQ(to_string(revision_of("abc")), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Manifest, RefusesEveryOtherSpelling)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    ASSERT_TRUE(decode_manifest(good));
    for (const std::string& bad : {good + "\n", " " + good, replaced(good, ":5", ":5.0"), replaced(good, ":5", ":05"), replaced(good, ":5", ":-5"),
             replaced(good, ":5", ":5e0"), replaced(good, "\"a\"", "\"\\u0061\""), replaced(good, ",", ", "), good.substr(0, good.size() - 1), good + "}",
             replaced(good, "\"schema\":1", "\"schema\":1,\"schema\":1"), replaced(good, "{\"annotations\":{},", "{") + "", "\xef\xbb\xbf" + good,
             std::string{}})
        EXPECT_EQ(refusal(bad).code, Errc::malformed) << bad;
}

TEST(Manifest, RefusesUnknownKeysByName)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    EXPECT_THAT(refusal(replaced(good, "\"schema\"", "\"rogue\":1,\"schema\"")).message, HasSubstr(R"(unknown key "rogue")"));
    EXPECT_THAT(refusal(replaced(good, "\"sha256\"", "\"mode\":420,\"sha256\"")).message, HasSubstr(R"(files[0]: unknown key "mode")"));
}

TEST(Manifest, RefusesMissingKeysByName)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    EXPECT_THAT(refusal(replaced(good, "\"data_version\":\"\",", "")).message, HasSubstr("'data_version' is missing"));
    EXPECT_THAT(refusal(replaced(good, "\"path\":\"a\",", "")).message, HasSubstr("files[0]: key 'path' is missing"));
}

TEST(Manifest, RefusesAnotherSchemaNamingBoth)
{
    const Error error = refusal(R"({"schema":2,"whatever":[1,2,3]})");
    EXPECT_THAT(error.message, HasSubstr("expected 1, found 2"));
    EXPECT_FALSE(error.hint.empty());
}

TEST(Manifest, RefusesWrongTypes)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    for (const char* bad : {"[]", "1", "\"x\"", "null", "{}", R"({"schema":"1"})", R"({"schema":1})"}) EXPECT_EQ(refusal(bad).code, Errc::malformed) << bad;
    EXPECT_EQ(refusal(replaced(good, ":{}", ":[]")).code, Errc::malformed);
    EXPECT_EQ(refusal(replaced(good, ":{}", ":{\"a\":1}")).code, Errc::malformed);
    EXPECT_EQ(refusal(replaced(good, "\"packs\":[]", "\"packs\":{}")).code, Errc::malformed);
    EXPECT_EQ(refusal(replaced(good, "[{", "[[],{")).code, Errc::malformed);
}

TEST(Manifest, RefusesUpperCaseOrShortDigests)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    const std::string hex = to_hex(digest_of("content of a"));
    EXPECT_THAT(refusal(replaced(good, hex, hex.substr(1))).message, HasSubstr("sha256"));
    EXPECT_THAT(refusal(replaced(good, hex, "A" + hex.substr(1))).message, HasSubstr("64 lower-case"));
}

TEST(Manifest, RefusesAPathThatLeavesTheTree)
{
    EXPECT_THAT(refusal(encode(manifest_of({file("../a", 5)}))).message, HasSubstr("'../a'"));
    EXPECT_THAT(refusal(encode(manifest_of({file("/etc/passwd", 5)}))).message, HasSubstr("'/etc/passwd'"));
}

TEST(Manifest, RefusesTextThatIsNotUtf8)
{
    const std::string good = encode(manifest_of({file("a", 5)}));
    EXPECT_EQ(refusal(replaced(good, "\"a\"", "\"\xff\"")).code, Errc::malformed);
    EXPECT_EQ(refusal(replaced(good, "\"a\"", "\"\\ud800\"")).code, Errc::malformed);
    EXPECT_FALSE(check(manifest_of({file("\xff", 5)})));
}

TEST(Manifest, RefusesFilesOutOfOrderOrTwice)
{
    EXPECT_THAT(refusal(encode(manifest_of({file("b", 5), file("a", 5)}))).message, HasSubstr("'a' comes after 'b'"));
    EXPECT_THAT(refusal(encode(manifest_of({file("a", 5), file("a", 5)}))).message, HasSubstr("'a' is there twice"));
    EXPECT_TRUE(check(manifest_of({file("a-b", 5), file("a/b", 5)})));
    EXPECT_TRUE(check(manifest_of({file("z", 5), file("\xc3\xa9", 5)}))) << "bytes are unsigned";
}

TEST(Manifest, RefusesAFileThatIsAnothersDirectory)
{
    const auto checked = check(manifest_of({file("m/out", 5), file("m/out-x", 5), file("m/out/x", 5)}));
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr("'m/out'"));
    EXPECT_THAT(checked.error().message, HasSubstr("'m/out/x'"));
}

TEST(Manifest, TakesCaseTwins)
{
    EXPECT_TRUE(check(manifest_of({file("A", 5), file("a", 5)})));
}

TEST(Manifest, AnEmptyFileHasNoPiecesRootAndTheDigestOfNothing)
{
    const std::string good = encode(manifest_of({file("a", 0)}));
    EXPECT_TRUE(decode_manifest(good));
    EXPECT_EQ(refusal(replaced(good, "\"sha256\"", "\"pieces_root\":\"" + to_hex(digest_of("x")) + "\",\"sha256\"")).code, Errc::malformed);
    EXPECT_EQ(refusal(replaced(good, to_hex(digest_of("")), to_hex(digest_of("x")))).code, Errc::malformed);
    EXPECT_FALSE(check(manifest_of({File{"a", 5, {}, digest_of("x")}})));
}

TEST(Manifest, NeedsAFileAndAModel)
{
    EXPECT_FALSE(check(manifest_of({})));
    Manifest nameless = manifest_of({file("a", 5)});
    nameless.model = "../x";
    EXPECT_FALSE(check(nameless));
}

TEST(Manifest, PieceSizeIsAPowerOfTwoFrom256KiBTo16MiB)
{
    for (const std::uint32_t size : {256U << 10U, 1U << 20U, 16U << 20U}) {
        Manifest manifest = manifest_of({file("a", 5)});
        manifest.piece_size = size;
        EXPECT_TRUE(check(manifest)) << size;
    }
    for (const std::uint32_t size : {0U, 1U, 128U << 10U, 300U << 10U, 32U << 20U}) {
        Manifest manifest = manifest_of({file("a", 5)});
        manifest.piece_size = size;
        EXPECT_FALSE(check(manifest)) << size;
    }
}

TEST(Manifest, HasAtMost65536Pieces)
{
    const std::uint64_t most = std::uint64_t{max_pieces} * min_piece_size;
    EXPECT_TRUE(check(manifest_of({file("a", most)})));
    const auto checked = check(manifest_of({file("a", most), file("b", 1)}));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Errc::invalid);
    EXPECT_THAT(checked.error().message, HasSubstr("65537 pieces"));
    EXPECT_THAT(checked.error().message, HasSubstr("at most 65536"));
}

TEST(Manifest, SizesDoNotOverflow)
{
    const std::string good = encode(manifest_of({file("a", 5), file("b", 5)}));
    for (const char* huge : {":9223372036854775807", ":18446744073709551615", ":99999999999999999999", ":1099511627777"})
        EXPECT_EQ(refusal(replaced(good, ":5", huge)).code, Errc::malformed) << huge;
}

TEST(Manifest, C85_TooManyFilesAreRefusedNamingTheLimit)
{
    Manifest manifest;
    manifest.model = "llama";
    for (std::size_t i = 0; i <= max_files; ++i) manifest.files.push_back(file("f" + std::to_string(100'000 + i), 1));
    const auto checked = check(manifest);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr("at most 50000"));
}

TEST(Manifest, ProvenanceHasLimits)
{
    const auto with = [](const std::string& key, const std::string& value) {
        Manifest manifest = manifest_of({file("a", 5)});
        manifest.annotations = {{key, value}};
        return check(manifest);
    };
    EXPECT_TRUE(with("org.example/owner", ""));
    EXPECT_TRUE(with("k", std::string(4096, 'v')));
    EXPECT_FALSE(with("k", std::string(4097, 'v')));
    EXPECT_FALSE(with("k", "\xff"));
    EXPECT_FALSE(with("é", "v"));
    EXPECT_FALSE(with("", "v"));
    EXPECT_FALSE(with(std::string(129, 'k'), "v"));
    Manifest manifest = manifest_of({file("a", 5)});
    manifest.data_version = std::string(1025, 'v');
    EXPECT_FALSE(check(manifest));
}

TEST(Manifest, PacksAreExactlyThoseThatTheSizesGive)
{
    Manifest manifest = packed_manifest();
    ASSERT_TRUE(check(manifest));
    Manifest without = manifest;
    without.packs.clear();
    EXPECT_THAT(check(without).error().message, HasSubstr("expected 1, found 0"));
    Manifest shorter = manifest;
    shorter.packs[0].files.pop_back();
    EXPECT_FALSE(check(shorter));
    Manifest other_size = manifest;
    other_size.packs[0].size += 1;
    EXPECT_FALSE(check(other_size));
    Manifest needless = manifest_of({file("a", 5)});
    needless.packs = {{{{0}}, 5, digest_of("pack")}};
    EXPECT_FALSE(check(needless));
}

TEST(Manifest, TooLargeInputIsRefusedBeforeItIsRead)
{
    EXPECT_EQ(refusal(std::string(max_manifest_bytes + 1, ' ')).code, Errc::too_large);
    EXPECT_EQ(refusal(std::string(max_manifest_bytes, '[')).code, Errc::malformed);
    std::string numbers = "[0";
    while (numbers.size() < max_manifest_bytes - 2) numbers += ",0";
    EXPECT_EQ(refusal(numbers + "]").code, Errc::too_large);
}

TEST(PackFiles, ExistOnlyWhenMoreThan256FilesAreSmall)
{
    const std::uint64_t small = min_piece_size - 1;
    std::vector<std::uint64_t> sizes(256, small);
    sizes.insert(sizes.end(), {0, min_piece_size, min_piece_size + 1});
    EXPECT_TRUE(pack_files(sizes, min_piece_size).empty());
    sizes.push_back(1);
    const auto packs = pack_files(sizes, min_piece_size);
    ASSERT_EQ(packs.size(), 1U);
    EXPECT_EQ(packs[0].size(), 257U);
    EXPECT_EQ(packs[0].back(), FileIndex{259}) << "neither empty files nor those of a piece are in one";
}

TEST(PackFiles, AreFullAt64MiBAndNeverAbove)
{
    const std::uint64_t quarter = 16U << 20U;
    std::vector<std::uint64_t> sizes(8, quarter / 2);  // 64 MiB exactly
    sizes.resize(300, 1);
    const auto packs = pack_files(sizes, max_piece_size);
    ASSERT_EQ(packs.size(), 2U);
    EXPECT_EQ(packs[0].size(), 8U);
    EXPECT_EQ(packs[1].size(), 292U);
}

TEST(PieceSize, FollowsTheBytes)
{
    constexpr std::uint64_t gib = 1ULL << 30U;
    const std::pair<std::uint64_t, std::uint32_t> expected[] = {{0, 256U << 10U}, {2 * gib - 1, 256U << 10U}, {2 * gib, 1U << 20U}, {16 * gib - 1, 1U << 20U},
        {16 * gib, 4U << 20U}, {64 * gib - 1, 4U << 20U}, {64 * gib, 8U << 20U}, {128 * gib - 1, 8U << 20U}, {128 * gib, 16U << 20U}, {1024 * gib, 16U << 20U}};
    for (const auto& [bytes, size] : expected) EXPECT_EQ(default_piece_size(bytes), size) << bytes;
}

}  // namespace
}  // namespace shoal::model
