#include "seeder/publish_plan.hpp"
#include "seeder/removal.hpp"
#include "seeder/source_checks.hpp"

#include "common/crypto/sha256.hpp"

#include <gtest/gtest.h>

namespace shoal::seeder {
namespace {

using objectstore::Location;

Digest digest(const std::string& text)
{
    return crypto::sha256(as_bytes(text));
}

// Files of one piece, told apart by their contents' names.
model::Manifest manifest_of(const std::vector<std::string>& contents)
{
    model::Manifest manifest;
    manifest.model = "m";
    for (std::size_t i = 0; i < contents.size(); ++i)
        manifest.files.push_back({"file" + std::to_string(i), 1000 + contents[i].size(), digest(contents[i]), digest("flat " + contents[i])});
    return manifest;
}

class Plan : public testing::Test {
protected:
    // All that is there after a publish by copy.
    [[nodiscard]] StoreFacts everything() const
    {
        StoreFacts facts;
        for (const model::SwarmFile& file : layout.files()) facts.blobs.emplace_back(file.size);
        facts.manifest = facts.layers = facts.record = Found::same;
        facts.location = Location{};
        return facts;
    }
    [[nodiscard]] StoreFacts nothing() const
    {
        StoreFacts facts;
        facts.blobs.resize(layout.files().size());
        return facts;
    }
    model::Manifest manifest = manifest_of({"a", "b", "c"});
    model::Layout layout{manifest};
    Location source{"file:///src", {{"file0", "1"}, {"file1", "2"}, {"file2", "3"}}};
};

TEST_F(Plan, AnEmptyStoreGetsEverything)
{
    StoreFacts facts = nothing();
    facts.tags = {Found::missing, Found::other};
    const PublishPlan plan = plan_publish(layout, Placement::copy, source, facts);
    EXPECT_EQ(plan.upload.size(), 3U);
    EXPECT_EQ(plan.upload_bytes, layout.bytes());
    EXPECT_TRUE(plan.replace.empty());
    EXPECT_TRUE(plan.layers && plan.manifest && plan.record);
    ASSERT_TRUE(plan.location);
    EXPECT_EQ(plan.location->root, "");
    EXPECT_EQ(plan.tags, (std::vector<std::size_t>{0, 1}));
}

TEST_F(Plan, TheSameAgainWritesNothing)
{
    StoreFacts facts = everything();
    facts.tags = {Found::same};
    EXPECT_TRUE(plan_publish(layout, Placement::copy, source, facts).writes_nothing());
}

TEST_F(Plan, C02_OnlyBlobsThatLackAreUploaded)
{
    StoreFacts facts = nothing();
    facts.blobs[1] = layout.files()[1].size;
    const PublishPlan plan = plan_publish(layout, Placement::copy, source, facts);
    EXPECT_EQ(plan.upload, (std::vector<SwarmFileIndex>{{0}, {2}}));
    EXPECT_EQ(plan.upload_bytes, layout.files()[0].size + layout.files()[2].size);
}

TEST_F(Plan, ABlobOfAWrongSizeIsReplaced)
{
    StoreFacts facts = everything();
    facts.blobs[2] = 1;
    const PublishPlan plan = plan_publish(layout, Placement::copy, source, facts);
    EXPECT_EQ(plan.upload, (std::vector<SwarmFileIndex>{{2}}));
    EXPECT_EQ(plan.replace, plan.upload);
}

TEST_F(Plan, C08_EqualFilesAreUploadedOnce)
{
    const model::Manifest twice = manifest_of({"a", "a", "b"});
    const model::Layout equal{twice};
    StoreFacts facts;
    facts.blobs.resize(3);
    const PublishPlan plan = plan_publish(equal, Placement::copy, source, facts);
    EXPECT_EQ(plan.upload.size(), 2U);
    EXPECT_EQ(plan.upload_bytes, equal.files()[0].size + equal.files()[2].size);
}

TEST_F(Plan, InPlaceUploadsNothingAndSaysWhereTheFilesLie)
{
    const PublishPlan plan = plan_publish(layout, Placement::in_place, source, nothing());
    EXPECT_TRUE(plan.upload.empty());
    ASSERT_TRUE(plan.location);
    EXPECT_EQ(plan.location->root, "file:///src");
    EXPECT_EQ(plan.location->files.size(), 3U);
}

TEST_F(Plan, InPlaceAgainWritesNothingUnlessAFileWasTouched)
{
    StoreFacts facts = everything();
    facts.blobs.assign(3, std::nullopt);
    facts.location = source;
    EXPECT_TRUE(plan_publish(layout, Placement::in_place, source, facts).writes_nothing());
    facts.location->files[1].version = "touched";
    EXPECT_EQ(plan_publish(layout, Placement::in_place, source, facts).location->files[1].version, "2");
}

TEST_F(Plan, WhatIsWholeInTheStoreStaysThere)
{
    EXPECT_TRUE(plan_publish(layout, Placement::in_place, source, everything()).writes_nothing());
    StoreFacts damaged = everything();
    damaged.blobs[0] = std::nullopt;
    EXPECT_EQ(plan_publish(layout, Placement::in_place, source, damaged).location->root, "file:///src");
}

TEST_F(Plan, ACopyOfWhatWasInPlaceMovesItsLocation)
{
    StoreFacts facts = everything();
    facts.blobs.assign(3, std::nullopt);
    facts.location = source;
    const PublishPlan plan = plan_publish(layout, Placement::copy, source, facts);
    EXPECT_EQ(plan.upload.size(), 3U);
    EXPECT_EQ(plan.location->root, "");
}

TEST_F(Plan, DamagedSmallObjectsAreWrittenAgain)
{
    StoreFacts facts = everything();
    facts.layers = Found::other;
    facts.record = Found::missing;
    const PublishPlan plan = plan_publish(layout, Placement::copy, source, facts);
    EXPECT_TRUE(plan.layers && plan.record);
    EXPECT_FALSE(plan.manifest);
}

TEST(UnsharedBlobs, C08_AreThoseThatNoOtherRevisionNeeds)
{
    UnsharedBlobs blobs{manifest_of({"a", "b", "c"})};
    blobs.keep(manifest_of({"b", "x"}));
    EXPECT_EQ(blobs.roots(), (std::set<Digest>{digest("a"), digest("c")}));
    EXPECT_TRUE(blobs.concerns(manifest_of({"c"})));
    EXPECT_FALSE(blobs.concerns(manifest_of({"b", "x"})));
    blobs.keep(manifest_of({"a", "c"}));
    EXPECT_TRUE(blobs.roots().empty());
}

struct Answer {
    const char* name;
    const char* body;
    Errc expected;  // internal: free
};

class TrackersAnswer : public testing::TestWithParam<Answer> {};

TEST_P(TrackersAnswer, DecidesWhetherARevisionMayGo)
{
    const auto judged = judge_answer(GetParam().body, "10.0.0.1:8080", "sha256:ab");
    EXPECT_EQ(judged ? Errc::internal : judged.error().code, GetParam().expected);
    const std::string said = judged ? "10.0.0.1:8080" : judged.error().message;
    EXPECT_NE(said.find("10.0.0.1:8080"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Table, TrackersAnswer,
    testing::Values(Answer{"nobody", R"({"complete_picture":true,"nodes":[]})", Errc::internal},
        Answer{"held", R"({"complete_picture":true,"nodes":[{"node":"n","state":"held"}]})", Errc::internal},
        Answer{"fetching", R"({"complete_picture":true,"nodes":[{"node":"n","state":"held"},{"node":"n","state":"fetching"}]})", Errc::not_allowed},
        Answer{"wanted", R"({"complete_picture":true,"nodes":[{"node":"n","state":"wanted"}]})", Errc::not_allowed},
        Answer{"leased", R"({"complete_picture":true,"nodes":[],"leases":[{"id":"x"}]})", Errc::not_allowed},
        Answer{"no_leases", R"({"complete_picture":true,"nodes":[],"leases":[]})", Errc::internal},
        Answer{"just_started", R"({"complete_picture":false,"nodes":[]})", Errc::timed_out}, Answer{"silent_about_that", R"({"nodes":[]})", Errc::timed_out},
        Answer{"odd_about_that", R"({"complete_picture":1,"nodes":[]})", Errc::timed_out}, Answer{"garbage", "<html>", Errc::timed_out},
        Answer{"empty", "", Errc::timed_out}, Answer{"no_nodes", R"({"complete_picture":true})", Errc::timed_out},
        Answer{"odd_nodes", R"({"complete_picture":true,"nodes":[1]})", Errc::timed_out},
        Answer{"nodes_no_list", R"({"complete_picture":true,"nodes":{}})", Errc::timed_out}),
    [](const auto& row) { return row.param.name; });

TEST(TrackersAnswerText, NamesTheUsers)
{
    const auto judged = judge_answer(R"({"complete_picture":true,"nodes":[{"node":"gpu-7","state":"fetching"}]})", "t:1", "sha256:ab");
    EXPECT_NE(judged.error().message.find("gpu-7 (fetching)"), std::string::npos);
}

std::string safetensors(const std::string& header, std::size_t data)
{
    std::string file(8, '\0');
    for (unsigned i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
    return file + header + std::string(data, 'w');
}

TEST(SuspiciousFiles, C10_AHealthyShardIsNot)
{
    const std::string header = R"({"__metadata__":{"format":"pt"},"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    const std::string file = safetensors(header, 8);
    EXPECT_EQ(suspicious_weights("m.safetensors", file, file.size()), "");
    EXPECT_EQ(suspicious_safetensors(header, 8), "");
    EXPECT_EQ(suspicious_weights("m.gguf", "GGUF\x03", 5), "");
    EXPECT_EQ(suspicious_weights("m.bin", "any bytes", 9), "");
}

TEST(SuspiciousFiles, C10_AWebPageZerosOrACutShardAre)
{
    EXPECT_NE(suspicious_weights("m.bin", "\n <!DOCTYPE html><html>", 100), "");
    EXPECT_NE(suspicious_weights("m.safetensors", "<html>404</html>", 16), "");
    EXPECT_NE(suspicious_weights("m.bin", "version https://git-lfs.github.com/spec/v1\noid", 130), "");
    EXPECT_NE(suspicious_weights("m.safetensors", std::string(1000, '\0'), 1000), "");
    EXPECT_NE(suspicious_weights("m.bin", std::string(5000, '\0'), 5000), "");
    EXPECT_NE(suspicious_weights("m.safetensors", "abc", 3), "");
    EXPECT_NE(suspicious_weights("m.gguf", "ELF", 3), "");
    EXPECT_NE(suspicious_safetensors("{not json", 8), "");
    EXPECT_NE(suspicious_safetensors("[]", 8), "");
    EXPECT_NE(suspicious_safetensors(R"({"t":{"data_offsets":[0,16]}})", 8), "");
    EXPECT_NE(suspicious_safetensors(R"({"t":{"data_offsets":[0]}})", 8), "");
    EXPECT_NE(suspicious_safetensors(R"({"t":7})", 8), "");
}

TEST(SuspiciousFiles, C10_AnIndexNamesItsShards)
{
    EXPECT_EQ(indexed_files(R"({"weight_map":{"a":"s1","b":"s2","c":"s1"}})").value(), (std::vector<std::string>{"s1", "s2"}));
    EXPECT_TRUE(indexed_files(R"({"other":1})").value().empty());
    for (const char* wrong : {"", "[]", "<html>", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})"}) EXPECT_FALSE(indexed_files(wrong)) << wrong;
}

}  // namespace
}  // namespace shoal::seeder
