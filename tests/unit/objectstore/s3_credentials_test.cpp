#include "common/objectstore/s3_credentials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace shoal::objectstore {
namespace {

// Variables, files, and services that answer by their URL; what was asked is kept.
class S3Credentials : public testing::Test {
protected:
    void SetUp() override { ASSERT_NE(::mkdtemp(directory.data()), nullptr); }
    void TearDown() override { std::filesystem::remove_all(directory); }
    [[nodiscard]] Environment environment() const
    {
        return [this](const std::string& name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::string{} : found->second;
        };
    }
    Exchange exchange()
    {
        return [this](const HttpRequest& request) -> HttpReply {
            asked.push_back(request.method + " " + request.url);
            headers.insert(headers.end(), request.headers.begin(), request.headers.end());
            bodies.emplace_back(request.body);
            const auto found = services.find(request.url);
            if (found == services.end()) return {.failure = Failure::unreachable, .cause = "nobody there"};
            return {.status = 200, .body = found->second};
        };
    }
    Result<Credentials> find() { return find_credentials(environment(), exchange(), "eu-west-1"); }
    std::string write(const std::string& name, const std::string& content) const
    {
        std::ofstream{directory + "/" + name} << content;
        return directory + "/" + name;
    }
    bool sent(const std::string& header) const { return std::find(headers.begin(), headers.end(), header) != headers.end(); }
    std::string directory = testing::TempDir() + "shoal-credentials-XXXXXX";
    std::map<std::string, std::string> variables;
    std::map<std::string, std::string> services;
    std::vector<std::string> asked;
    std::vector<std::string> headers;
    std::vector<std::string> bodies;
    const std::string answer = R"({"AccessKeyId":"ID","SecretAccessKey":"SECRET","Token":"TOKEN","Expiration":"2015-10-21T07:28:00Z","Code":"Success"})";
};

TEST_F(S3Credentials, TheEnvironmentComesFirst)
{
    variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "B"}, {"AWS_SESSION_TOKEN", "C"}, {"AWS_ROLE_ARN", "r"},
        {"AWS_WEB_IDENTITY_TOKEN_FILE", "/none"}};
    EXPECT_EQ(find().value().keys, (SigningKeys{"A", "B", "C"}));
    variables["AWS_SECRET_ACCESS_KEY"] = "";
    EXPECT_EQ(find().error().code, Errc::not_allowed);
    EXPECT_NE(find().error().message.find("AWS_SECRET_ACCESS_KEY"), std::string::npos);
}

TEST_F(S3Credentials, AProfileGivesKeysAndRegion)
{
    variables["AWS_SHARED_CREDENTIALS_FILE"] = write("credentials",
        "# keys\n[default]\naws_access_key_id=D\naws_secret_access_key=d\n\n[ other ]\n aws_x = y\naws_access_key_id = O\r\naws_secret_access_key = o=o\r\n");
    variables["AWS_CONFIG_FILE"] =
        write("config", "[profile other]\nregion = eu-north-1\ns3 =\n  region = nested\nendpoint_url = http://gate:1\n[default]\nregion = us-west-2\n");
    EXPECT_EQ(find().value().keys, (SigningKeys{"D", "d", ""}));
    EXPECT_EQ(read_s3_settings(environment(), "bucket").value().endpoint.host, "s3.us-west-2.amazonaws.com");
    variables["AWS_PROFILE"] = "other";
    EXPECT_EQ(find().value().keys, (SigningKeys{"O", "o=o", ""}));
    const S3Settings settings = read_s3_settings(environment(), "bucket").value();
    EXPECT_EQ(settings.region, "eu-north-1");
    EXPECT_EQ(settings.endpoint.host, "gate:1");
    variables["AWS_PROFILE"] = "none";
    EXPECT_EQ(find().error().code, Errc::not_found);
}

TEST_F(S3Credentials, EmptyVariablesAreUnsetAndTheStyleFollowsTheEndpoint)
{
    variables = {{"AWS_ENDPOINT_URL_S3", ""}, {"AWS_ENDPOINT_URL", ""}, {"AWS_REGION", ""}, {"AWS_DEFAULT_REGION", "eu-west-1"}};
    EXPECT_EQ(read_s3_settings(environment(), "bucket").value().addressing, Addressing::virtual_host);
    EXPECT_EQ(read_s3_settings(environment(), "dotted.bucket").value().addressing, Addressing::path);
    EXPECT_EQ(read_s3_settings(environment(), "bucket").value().endpoint.host, "s3.eu-west-1.amazonaws.com");
    variables["AWS_ENDPOINT_URL"] = "http://gate:9000/";
    EXPECT_EQ(read_s3_settings(environment(), "bucket").value().addressing, Addressing::path);
    variables["AWS_S3_FORCE_PATH_STYLE"] = "false";
    EXPECT_EQ(read_s3_settings(environment(), "bucket").value().addressing, Addressing::virtual_host);
    variables["AWS_S3_FORCE_PATH_STYLE"] = "perhaps";
    EXPECT_EQ(read_s3_settings(environment(), "bucket").error().code, Errc::invalid);
}

TEST_F(S3Credentials, AWebIdentityBecomesARole)
{
    variables = {{"AWS_ROLE_ARN", "arn:r"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", write("token", "JWT+/=\n")}};
    const std::string reply =
        "<AssumeRoleWithWebIdentityResponse "
        "xmlns=\"urn:x\"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ID</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey>"
        "<SessionToken>TOKEN</SessionToken><Expiration>2015-10-21T07:28:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></"
        "AssumeRoleWithWebIdentityResponse>";
    services["https://sts.eu-west-1.amazonaws.com/"] = reply;
    const Credentials found = find().value();
    EXPECT_EQ(found.keys, (SigningKeys{"ID", "SECRET", "TOKEN"}));
    EXPECT_EQ(found.ends, 1445412480);
    EXPECT_EQ(bodies.at(0), "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Ar&RoleSessionName=shoal&Version=2011-06-15&WebIdentityToken=JWT%2B%2F%3D");
    variables["AWS_ENDPOINT_URL_STS"] = "http://sts:1";
    const auto nobody = find();
    EXPECT_EQ(nobody.error().code, Errc::not_allowed);
    EXPECT_EQ(nobody.error().text().find("JWT"), std::string::npos);
    EXPECT_EQ(asked.back(), "POST http://sts:1/");
}

TEST_F(S3Credentials, AContainersServiceIsAskedWithItsToken)
{
    variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "no"},
        {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", write("token", "yes\n")}};
    services["http://169.254.170.23/v1/credentials"] = answer;
    EXPECT_EQ(find().value().keys, (SigningKeys{"ID", "SECRET", "TOKEN"}));
    EXPECT_TRUE(sent("authorization: yes"));
    variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/get";
    services["http://169.254.170.2/get"] = answer;
    EXPECT_TRUE(find());
    EXPECT_EQ(asked.back(), "GET http://169.254.170.2/get");
}

TEST_F(S3Credentials, AContainersTokenGoesToNobodyElse)
{
    for (const char* url : {"http://example.com/", "http://127.0.0.1.evil/", "http://localhost@evil/", "ftp://127.0.0.1/"}) {
        variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url}, {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "token"}};
        EXPECT_EQ(find().error().code, Errc::not_allowed) << url;
    }
    EXPECT_TRUE(asked.empty());
}

TEST_F(S3Credentials, AMachinesRoleIsAskedByASessionOfVersion2)
{
    const std::string base = "http://169.254.169.254/latest/";
    services = {
        {base + "api/token", "SESSION"}, {base + "meta-data/iam/security-credentials/", "role\n"}, {base + "meta-data/iam/security-credentials/role", answer}};
    EXPECT_EQ(find().value().keys.id, "ID");
    EXPECT_EQ(asked.front(), "PUT " + base + "api/token");
    EXPECT_TRUE(sent("x-aws-ec2-metadata-token: SESSION"));
    asked.clear();
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
    EXPECT_EQ(find().error().code, Errc::not_allowed);
    EXPECT_TRUE(asked.empty());
}

TEST_F(S3Credentials, AreFetchedAnewBeforeTheyEnd)
{
    variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    services["http://localhost/c"] = answer;
    constexpr std::int64_t ends = 1445412480;
    CredentialSource source{environment(), exchange(), "r"};
    ASSERT_TRUE(source.current(ends - 1000));
    ASSERT_TRUE(source.current(ends - 400));
    EXPECT_EQ(asked.size(), 1U);
    ASSERT_TRUE(source.current(ends - 200));
    EXPECT_EQ(asked.size(), 2U);
    ASSERT_TRUE(source.current(ends - 199));
    EXPECT_EQ(asked.size(), 2U) << "they end soon too, but were asked for a second ago";
    services.clear();
    EXPECT_TRUE(source.current(ends - 100)) << "those that are held are good still";
    EXPECT_FALSE(source.current(ends + 1));
}

TEST_F(S3Credentials, OthersAreAskedForOnceWhateverHowManyLearnThatTheseHaveEnded)
{
    variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    services["http://localhost/c"] = answer;
    CredentialSource source{environment(), exchange(), "r"};
    const SigningKeys ended{"OLD", "x", ""};
    ASSERT_TRUE(source.newer_than(ended, 0));
    ASSERT_TRUE(source.newer_than(ended, 0));
    EXPECT_EQ(asked.size(), 1U);
}

TEST_F(S3Credentials, AServiceThatDoesNotAnswerIsNotAskedByEachWhoNeedsIt)
{
    variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    CredentialSource source{environment(), exchange(), "r"};
    const SigningKeys ended{"OLD", "x", ""};
    ASSERT_FALSE(source.newer_than(ended, 100));
    const std::size_t once = asked.size();
    for (const std::int64_t now : {100, 99, 105, 109}) EXPECT_FALSE(source.newer_than(ended, now));  // some have waited for the answer to the first
    EXPECT_FALSE(source.current(109));
    EXPECT_EQ(asked.size(), once);
    services["http://localhost/c"] = answer;
    EXPECT_TRUE(source.newer_than(ended, 110));
}

TEST_F(S3Credentials, AServicesPasswordIsNotShown)
{
    variables = {{"AWS_ROLE_ARN", "arn:r"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", write("token", "JWT")}, {"AWS_ENDPOINT_URL_STS", "http://user:hidden@sts"}};
    EXPECT_EQ(find().error().code, Errc::not_allowed);
    EXPECT_EQ(find().error().text().find("hidden"), std::string::npos) << find().error().text();
    variables = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://user:hidden@metadata"}};
    services["http://user:hidden@metadata/latest/api/token"] = "SESSION";
    EXPECT_EQ(find().error().code, Errc::not_allowed);
    EXPECT_EQ(find().error().text().find("hidden"), std::string::npos) << find().error().text();
}

TEST(S3Metadata, RefusesWhatHasNoKeys)
{
    for (const char* text : {"", "[]", "{}", R"({"AccessKeyId":"a"})", R"({"AccessKeyId":1,"SecretAccessKey":"b","Token":"c"})",
             R"({"AccessKeyId":"a","SecretAccessKey":"b","Token":"c","Expiration":"never"})"})
        EXPECT_FALSE(decode_metadata(text)) << text;
}

}  // namespace
}  // namespace shoal::objectstore
