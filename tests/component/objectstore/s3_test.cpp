#include "tests/component/objectstore/conformance.hpp"

#include "common/objectstore/s3_store.hpp"
#include "common/objectstore/s3_upload.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

constexpr const char* key_id = "AKIATEST0000000000AA";
constexpr const char* secret = "testsecrettestsecrettestsecrettestsecret";

// The real gateway, one for all tests of this process.
class Gateway : public testing::Environment {
public:
    void SetUp() override
    {
        if (std::system("command -v ceph-mon radosgw radosgw-admin ceph-osd ceph >/dev/null") != 0) {
            std::cerr << "\n*** S3 IS NOT TESTED: no Ceph here; run scripts/setup test ***\n\n";
            return;
        }
        directory = testing::TempDir() + "shoal-rgw-XXXXXX";
        ASSERT_NE(::mkdtemp(directory.data()), nullptr);
        const std::string start = std::string{SHOAL_RGW} + " start " + directory + " " + std::to_string(::getpid());
        ASSERT_EQ(std::system(start.c_str()), 0) << start;
        std::ifstream{directory + "/endpoint"} >> endpoint;
    }
    void TearDown() override
    {
        if (directory.empty()) return;
        EXPECT_EQ(std::system((std::string{SHOAL_RGW} + " stop " + directory).c_str()), 0);
        std::filesystem::remove_all(directory);
    }
    std::string directory;
    std::string endpoint;  // empty: there is none
};

Gateway* const gateway = static_cast<Gateway*>(testing::AddGlobalTestEnvironment(new Gateway));

Environment environment_of(std::map<std::string, std::string> variables)
{
    return [variables = std::move(variables)](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string{} : found->second;
    };
}

std::map<std::string, std::string> good()
{
    return {{"AWS_ENDPOINT_URL", gateway->endpoint}, {"AWS_ACCESS_KEY_ID", key_id}, {"AWS_SECRET_ACCESS_KEY", secret}};
}

std::string new_bucket()
{
    static std::atomic<int> made{0};
    const std::string name = "bucket-" + std::to_string(made++);
    S3Connections connections{""};
    const HttpReply reply = connections.exchange({.method = "PUT", .url = gateway->endpoint + "/" + name}, Signature{{key_id, secret, {}}, "us-east-1"});
    EXPECT_TRUE(reply.ok()) << reply.status << reply.cause << reply.body;
    return name;
}

TestedStore make_store(const std::string& prefix)
{
    auto store = S3Store::open({new_bucket(), prefix}, environment_of(good()));
    EXPECT_TRUE(store) << store.error().text();
    if (!store) return {};
    return {std::move(store).value(), nullptr};
}

StoreCase s3_case(const std::string& name, const std::string& prefix)
{
    return {name, [prefix] { return make_store(prefix); }, Versions::of_contents, [] { return !gateway->endpoint.empty(); }};
}

INSTANTIATE_TEST_SUITE_P(S3, StoreConformance, testing::Values(s3_case("Bucket", ""), s3_case("Prefix", "below/m/")), store_case_name);

class S3StoreTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (gateway->endpoint.empty()) GTEST_SKIP() << "no Ceph here; run scripts/setup test";
    }
};

TEST_F(S3StoreTest, APrefixHidesItsNeighbours)
{
    const std::string bucket = new_bucket();
    auto whole = S3Store::open({bucket, ""}, environment_of(good())).value();
    auto part = S3Store::open({bucket, "m/"}, environment_of(good())).value();
    for (const char* key : {"m/a", "m-hf/a", "m.txt", "m"}) ASSERT_TRUE(whole->put(key, "x", Condition::always()));
    const Page page = part->list("", "", 10).value();
    ASSERT_EQ(page.objects.size(), 1U);
    EXPECT_EQ(page.objects[0].key, "a");
    EXPECT_EQ(part->url(), "s3://" + bucket + "/m");
}

TEST_F(S3StoreTest, C18_ABucketThatIsNotThereIsSaid)
{
    const auto store = S3Store::open({"no-such-bucket", ""}, environment_of(good()));
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::not_found);
    EXPECT_NE(store.error().message.find("store not found: s3://no-such-bucket"), std::string::npos) << store.error().message;
}

TEST_F(S3StoreTest, C15_WrongKeysAreRefusedAtOnceAndNotShown)
{
    for (const char* wrong : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
        auto variables = good();
        variables[wrong] = "wrongwrongwrong";
        const TimePoint before = Clock::now();
        const auto store = S3Store::open({new_bucket(), ""}, environment_of(variables));
        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::not_allowed);
        EXPECT_NE(store.error().message.find("403"), std::string::npos) << store.error().message;
        EXPECT_EQ(store.error().text().find("wrongwrongwrong"), std::string::npos) << store.error().text();
        EXPECT_LT(Clock::now() - before, std::chrono::seconds{5});
    }
}

TEST_F(S3StoreTest, AnEndpointWithATrailingSlashWorks)
{
    auto variables = good();
    variables["AWS_ENDPOINT_URL_S3"] = gateway->endpoint + "/";
    variables["AWS_ENDPOINT_URL"] = "";
    EXPECT_TRUE(S3Store::open({new_bucket(), ""}, environment_of(variables)));
}

TEST_F(S3StoreTest, VirtualHostStyleWorks)
{
    auto variables = good();
    variables["AWS_ENDPOINT_URL"] = "http://localhost" + gateway->endpoint.substr(gateway->endpoint.rfind(':'));
    variables["AWS_S3_FORCE_PATH_STYLE"] = "false";
    auto store = S3Store::open({new_bucket(), ""}, environment_of(variables));
    ASSERT_TRUE(store) << store.error().text();
    ASSERT_TRUE(store.value()->put("a key", "content", Condition::absent()));
    EXPECT_EQ(store.value()->get("a key", 100).value().content, "content");
}

// All uploads that somebody began in the bucket and did not end.
std::vector<PendingUpload> unfinished(const std::string& bucket)
{
    S3Connections connections{""};
    const HttpReply reply =
        connections.exchange({.url = gateway->endpoint + "/" + bucket + "?encoding-type=url&uploads="}, Signature{{key_id, secret, {}}, "us-east-1"});
    return decode_uploads(reply.body).value();
}

TEST_F(S3StoreTest, ALargeUploadGoesInPartsAndArrivesWhole)
{
    const std::string bucket = new_bucket();
    auto store = S3Store::open({bucket, ""}, environment_of(good())).value();
    std::string content(static_cast<std::size_t>(part_size(0) * 2 + 12345), '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 + i / 65536);
    auto upload = store->upload("large", content.size()).value();
    ASSERT_TRUE(upload->write(as_bytes(content)));
    EXPECT_EQ(unfinished(bucket).size(), 1U);
    ASSERT_TRUE(upload->commit());
    std::string out(content.size(), '\0');
    ASSERT_TRUE(store->get_range("large", 0, std::as_writable_bytes(std::span{out})));
    EXPECT_TRUE(out == content);
    EXPECT_NE(store->head("large").value().version.find("-3"), std::string::npos);
    EXPECT_TRUE(unfinished(bucket).empty());
}

TEST_F(S3StoreTest, C16_ALargeUploadThatIsGivenUpOrComesSecondLeavesNoParts)
{
    const std::string bucket = new_bucket();
    auto store = S3Store::open({bucket, ""}, environment_of(good())).value();
    const std::string content(static_cast<std::size_t>(part_size(0) + 1), 'x');
    {
        auto given_up = store->upload("given up", content.size()).value();
        ASSERT_TRUE(given_up->write(as_bytes(content)));
        EXPECT_EQ(unfinished(bucket).size(), 1U);
    }
    EXPECT_TRUE(unfinished(bucket).empty());
    auto second = store->upload("large", content.size()).value();
    ASSERT_TRUE(second->write(as_bytes(content)));
    ASSERT_TRUE(store->put("large", "first", Condition::absent()));
    ASSERT_TRUE(second->commit());
    second.reset();
    EXPECT_TRUE(unfinished(bucket).empty());
    EXPECT_EQ(store->get("large", 100).value().content, "first");
}

TEST_F(S3StoreTest, CopiesWithinTheStoreWhatHasNotChanged)
{
    const std::string bucket = new_bucket();
    auto from = S3Store::open({bucket, "from/"}, environment_of(good())).value();
    auto to = S3Store::open({new_bucket(), "to/"}, environment_of(good())).value();
    const Version version = from->put("a key+#", "content", Condition::always()).value();
    const auto copied = to->copy_from(*from, {"a key+#", 7, version}, "copy");
    ASSERT_TRUE(copied) << copied.error().text();
    EXPECT_TRUE(copied.value());
    EXPECT_EQ(to->get("copy", 100).value().content, "content");
    ASSERT_TRUE(from->put("a key+#", "another", Condition::always()));
    const auto late = to->copy_from(*from, {"a key+#", 7, version}, "late");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::changed);
    EXPECT_EQ(to->head("late").error().code, Errc::not_found);
    EXPECT_FALSE(to->copy_from(*from, {"not there", 7, version}, "other").value()) << "whoever copies it by hand finds out why";
}

TEST_F(S3StoreTest, C16_WhoFinishesAnUploadEndsWhatOthersBeganOfTheSame)
{
    const std::string bucket = new_bucket();
    auto store = S3Store::open({bucket, "below/"}, environment_of(good())).value();
    const std::string content(static_cast<std::size_t>(part_size(0) + 1), 'x');
    auto slower = store->upload("large", content.size()).value();
    auto other = store->upload("large too", content.size()).value();
    auto faster = store->upload("large", content.size()).value();
    ASSERT_TRUE(slower->write(as_bytes(content)));
    ASSERT_TRUE(other->write(as_bytes(content)));
    ASSERT_TRUE(faster->write(as_bytes(content)));
    EXPECT_EQ(unfinished(bucket).size(), 3U);
    ASSERT_TRUE(faster->commit());
    EXPECT_EQ(unfinished(bucket).size(), 1U) << "the other key's is nobody's business";
    ASSERT_TRUE(slower->commit());
    ASSERT_TRUE(other->commit());
    EXPECT_TRUE(unfinished(bucket).empty());
    EXPECT_EQ(store->head("large").value().size, content.size());
}

}  // namespace
}  // namespace shoal::objectstore
