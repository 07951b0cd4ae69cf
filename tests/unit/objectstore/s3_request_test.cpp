#include "common/objectstore/object_store.hpp"
#include "common/objectstore/s3_request.hpp"
#include "common/objectstore/s3_upload.hpp"

#include <gtest/gtest.h>

namespace shoal::objectstore {
namespace {

TEST(S3Request, EscapesAllButUnreservedCharacters)
{
    EXPECT_EQ(percent_encoded_path("a b/#+*'~-._%2F\xC3\xBC\n"), "a%20b/%23%2B%2A%27~-._%252F%C3%BC%0A");
    EXPECT_EQ(percent_encoded("a/b"), "a%2Fb");
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        EXPECT_EQ(percent_decoded(percent_encoded(text)), text);
    }
    EXPECT_EQ(percent_decoded("a+b%2Bc%zz%2"), "a+b+c%zz%2");
}

TEST(S3Request, SortsParametersAndWritesEachWithItsEquals)
{
    EXPECT_EQ(query_text({{"uploads", ""}, {"prefix", "a/b"}, {"list-type", "2"}}), "list-type=2&prefix=a%2Fb&uploads=");
}

TEST(S3Request, TakesABucketAndAPrefix)
{
    EXPECT_EQ(parse_s3_url("s3://models").value(), (S3Location{"models", ""}));
    EXPECT_EQ(parse_s3_url("s3://models/").value(), (S3Location{"models", ""}));
    EXPECT_EQ(parse_s3_url("s3://models.example/a/b").value(), (S3Location{"models.example", "a/b/"}));
    EXPECT_EQ(s3_url(parse_s3_url("s3://models/a/b/").value()), "s3://models/a/b");
    for (const char* url : {"s3://", "s3:///a", "s3://ab", "s3://bucket//a", "s3://bucket/a//b", "s3://bucket/../x", "s3://bucket/.", "s3://buc ket",
             "s3://user@host", "s3://-bucket", "s3://a..b", "s3:bucket"})
        EXPECT_EQ(parse_s3_url(url).error().code, Errc::invalid) << url;
}

TEST(S3Request, KeysInAUrlAreNotShown)
{
    for (const char* url : {"s3://AKIA:hid/den@bucket", "s3://AKIA:hidden@bucket/prefix"}) {
        const auto refused = parse_s3_url(url);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().text().find("hid"), std::string::npos) << refused.error().text();
    }
    const auto other = check_url("https://user:hidden@host/");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().text().find("hidden"), std::string::npos) << other.error().text();
    EXPECT_NE(check_url("models@v1").error().text().find("models@v1"), std::string::npos);
}

TEST(S3Request, C18_TakesAnEndpointWithAPathAndATrailingSlash)
{
    EXPECT_EQ(parse_endpoint("https://s3.example:9000/gate/way/").value(), (Endpoint{"https", "s3.example:9000", "/gate/way"}));
    EXPECT_EQ(parse_endpoint("http://[::1]:80").value(), (Endpoint{"http", "[::1]:80", ""}));
    for (const char* url : {"", "s3.example", "ftp://host", "http://", "http://:80", "http://host?x", "http://host/#x", "http://ho st"})
        EXPECT_EQ(parse_endpoint(url).error().code, Errc::invalid) << url;
    const auto with_password = parse_endpoint("http://user:password@host");
    ASSERT_FALSE(with_password);
    EXPECT_EQ(with_password.error().text().find("password"), std::string::npos);
}

TEST(S3Request, PutsTheBucketIntoPathOrHost)
{
    const Endpoint endpoint{"http", "host:80", "/base"};
    EXPECT_EQ(object_url(endpoint, Addressing::path, "bucket", "a b", {}), "http://host:80/base/bucket/a%20b");
    EXPECT_EQ(object_url(endpoint, Addressing::path, "bucket", "", {{"uploads", ""}}), "http://host:80/base/bucket?uploads=");
    EXPECT_EQ(object_url(endpoint, Addressing::virtual_host, "bucket", "a", {}), "http://bucket.host:80/base/a");
    EXPECT_EQ(object_url(endpoint, Addressing::virtual_host, "bucket", "", {}), "http://bucket.host:80/base/");
}

TEST(S3Request, FollowsNobodyWhoIsNotTheStore)
{
    const Endpoint own{"https", "s3.example", ""};
    EXPECT_TRUE(may_follow(own, "https://s3.example/other?x=1"));
    EXPECT_TRUE(may_follow(own, "https://bucket.s3.example/"));
    for (const char* location : {"", "/relative", "http://s3.example/", "https://evils3.example/", "https://s3.example.evil/", "https://s3.example@evil/"})
        EXPECT_FALSE(may_follow(own, location)) << location;
    EXPECT_TRUE(may_follow({"https", "s3.us-east-1.amazonaws.com", ""}, "https://b.s3.eu-west-1.amazonaws.com/k"));
    EXPECT_FALSE(may_follow({"https", "s3.us-east-1.amazonaws.com", ""}, "https://evilamazonaws.com/k"));
}

TEST(S3Request, PartsAreFewEnough)
{
    EXPECT_EQ(part_size(0), 16U << 20U);
    const std::uint64_t huge = 5ULL << 40U;
    EXPECT_LE((huge + part_size(huge) - 1) / part_size(huge), 9000U);
    EXPECT_EQ(part_size(huge) % (1U << 20U), 0U);
}

}  // namespace
}  // namespace shoal::objectstore
