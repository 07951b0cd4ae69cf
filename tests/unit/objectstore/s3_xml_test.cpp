#include "common/objectstore/s3_xml.hpp"

#include <gtest/gtest.h>

namespace shoal::objectstore {
namespace {

TEST(S3Xml, ReadsAListingWhateverItsNamespace)
{
    for (const std::string prefix : {"", "s3:"}) {
        const std::string xml = "<?xml version=\"1.0\"?><" + prefix + "ListBucketResult xmlns:s3=\"urn:x\"><" + prefix + "IsTruncated>true</" + prefix +
                                "IsTruncated><" + prefix + "Contents><" + prefix + "Key>a%20b%2Bc+d</" + prefix + "Key><" + prefix + "ETag>&quot;e-2&quot;</" +
                                prefix + "ETag><" + prefix + "Size>12</" + prefix + "Size></" + prefix + "Contents></" + prefix + "ListBucketResult>";
        const auto listing = decode_listing(xml);
        ASSERT_TRUE(listing) << listing.error().text();
        ASSERT_EQ(listing.value().objects.size(), 1U);
        EXPECT_EQ(listing.value().objects[0].key, "a b+c d");
        EXPECT_EQ(listing.value().objects[0].size, 12U);
        EXPECT_EQ(listing.value().objects[0].version, "e-2");
        EXPECT_TRUE(listing.value().more);
    }
}

TEST(S3Xml, RefusesWhatIsNoListing)
{
    for (const char* xml : {"", "<html></html>", "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
             "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
             "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
             "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<ListBucketResult>"})
        EXPECT_EQ(decode_listing(xml).error().code, Errc::malformed) << xml;
    EXPECT_FALSE(decode_listing(std::string(max_xml + 1, ' ')));
}

TEST(S3Xml, TakesNoMoreOfAnErrorThanItsCodeAndText)
{
    const S3Problem problem = decode_problem("<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><StringToSign>AWS4</StringToSign></Error>");
    EXPECT_EQ(problem.code, "SignatureDoesNotMatch");
    EXPECT_EQ(problem.message, "no");
    EXPECT_EQ(decode_problem("<html><Code>x</Code></html>").code, "");
    EXPECT_EQ(decode_problem("<Error><Message>" + std::string(1000, 'x') + "</Message></Error>").message.size(), 300U);
}

TEST(S3Xml, ACompletionThatHoldsAnErrorIsNone)
{
    EXPECT_EQ(decode_completed("<CompleteMultipartUploadResult><ETag>\"e-3\"</ETag></CompleteMultipartUploadResult>").value(), "e-3");
    EXPECT_FALSE(decode_completed("<Error><Code>InternalError</Code></Error>"));
    EXPECT_EQ(decode_copied("<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>").value(), "e");
    EXPECT_FALSE(decode_copied("<Error><Code>InternalError</Code></Error>"));
    EXPECT_FALSE(decode_upload_id("<InitiateMultipartUploadResult></InitiateMultipartUploadResult>"));
}

}  // namespace
}  // namespace shoal::objectstore
