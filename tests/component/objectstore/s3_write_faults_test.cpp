#include "tests/component/objectstore/s3_faults.hpp"

#include "common/objectstore/s3_upload.hpp"

namespace shoal::objectstore {
namespace {

class S3WriteFaults : public S3Faults {};

// Keeps what is put; knows no conditions: refuses them with 501, or takes no notice.
Stub::Script without_conditions(std::map<std::string, std::string>& held, bool refuses)
{
    return [&held, refuses](const std::string& request, std::size_t) {
        const std::string key = request.substr(request.find('/'), request.find(" HTTP") - request.find('/'));
        const std::string body = request.substr(request.find("\r\n\r\n") + 4);
        if (request.starts_with("PUT")) {
            if (refuses && request.find("if-") != std::string::npos) return Answer{problem("501 Not Implemented", "NotImplemented")};
            held[key] = body;
            return Answer{answer("200 OK", "", "ETag: \"" + body + "\"\r\n")};
        }
        if (key.find('?') != std::string::npos) return Answer{answer("200 OK", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")};
        if (!held.contains(key)) return Answer{answer("404 Not Found")};
        const std::string got = answer("200 OK", held[key], "ETag: \"" + held[key] + "\"\r\n");
        return Answer{request.starts_with("HEAD") ? got.substr(0, got.find("\r\n\r\n") + 4) : got};
    };
}

TEST_F(S3WriteFaults, C19_AStoreWithoutConditionsLosesNothingOfOneWriter)
{
    for (const bool refuses : {true, false}) {
        std::map<std::string, std::string> held;
        Stub stub{without_conditions(held, refuses)};
        const auto tested = store(stub.url());
        testing::internal::CaptureStderr();
        const Version first = tested->put("a", "one", Condition::absent()).value();
        EXPECT_EQ(tested->put("a", "two", Condition::absent()).error().code, Errc::exists);
        EXPECT_EQ(tested->put("a", "two", Condition::is("other")).error().code, Errc::changed);
        EXPECT_EQ(held["/bucket/a"], "one");
        EXPECT_TRUE(tested->put("a", "two", Condition::is(first)));
        EXPECT_EQ(held["/bucket/a"], "two");
        EXPECT_EQ(tested->put("b", "x", Condition::is(first)).error().code, Errc::changed);
        const std::size_t before = stub.requests().size();
        EXPECT_TRUE(tested->put("c", "x", Condition::absent()));
        for (std::size_t i = before; i < stub.requests().size(); ++i) EXPECT_EQ(stub.requests()[i].find("if-none-match"), std::string::npos);
        EXPECT_EQ(count(testing::internal::GetCapturedStderr(), "no conditional writes"), 1U);
    }
}

TEST_F(S3WriteFaults, APutWhoseAnswerWasLostIsKnownAgainAndAnothersOfTheSameContentIsNot)
{
    for (const bool ours : {true, false}) {
        std::string mark;
        Stub stub{[&](const std::string& request, std::size_t) {
            if (request.find("list-type") != std::string::npos)
                return Answer{answer("200 OK", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")};
            if (request.starts_with("PUT")) {
                if (!mark.empty()) return Answer{problem("412 No", "PreconditionFailed")};
                mark = request.substr(request.find("x-amz-meta-write: "), 18 + 32);
                return Answer{""};
            }
            if (mark.empty()) return Answer{answer("404 Not Found")};
            return Answer{answer("200 OK", "", "ETag: \"e\"\r\n" + (ours ? mark : "x-amz-meta-write: another") + "\r\n")};
        }};
        const auto put = store(stub.url())->put("key", "mine", Condition::absent());
        if (ours) {
            ASSERT_TRUE(put) << put.error().text();
            EXPECT_EQ(put.value(), "e");
        } else {
            EXPECT_EQ(put.error().code, Errc::exists);
        }
    }
}

TEST_F(S3WriteFaults, AConflictOverAKeyThatIsNotThereIsNoObjectThatExists)
{
    for (const auto& [code, means] : {std::pair{"OperationAborted", Errc::timed_out}, std::pair{"Busy", Errc::io}}) {
        Stub stub{[code = code](const std::string& request, std::size_t) {
            if (request.find("list-type") != std::string::npos) return Answer{listing({}, false)};
            return Answer{request.starts_with("PUT") ? problem("409 Conflict", code) : answer("404 Not Found")};
        }};
        const auto tested = store(stub.url());
        EXPECT_EQ(tested->put("key", "mine", Condition::absent()).error().code, means) << code;
        auto upload = tested->upload("key", 4).value();
        ASSERT_TRUE(upload->write(as_bytes(std::string_view{"mine"})));
        EXPECT_FALSE(upload->commit()) << "nothing is there";
    }
}

TEST_F(S3WriteFaults, AStoreWithoutConditionsTakesLargeUploadsToo)
{
    bool there = false;
    Stub stub{[&](const std::string& request, std::size_t) {
        if (request.find("list-type") != std::string::npos) return Answer{listing({}, false)};
        if (request.find("uploads=") != std::string::npos && request.starts_with("POST"))
            return Answer{answer("200 OK", "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>")};
        if (request.starts_with("POST") && request.find("if-none-match") != std::string::npos) return Answer{problem("501 Not Implemented", "NotImplemented")};
        if (request.starts_with("HEAD")) return Answer{answer("404 Not Found")};
        if (!request.starts_with("POST")) return Answer{answer("200 OK", "", "ETag: \"part\"\r\n")};
        there = true;
        return Answer{answer("200 OK", "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")};
    }};
    const auto tested = store(stub.url());
    const std::string content(static_cast<std::size_t>(part_size(0) + 1), 'x');
    auto upload = tested->upload("large", content.size()).value();
    ASSERT_TRUE(upload->write(as_bytes(content)));
    const auto done = upload->commit();
    EXPECT_TRUE(done) << done.error().text();
    EXPECT_TRUE(there);
}

TEST_F(S3WriteFaults, APartThatIsRefusedAbortsTheUpload)
{
    Stub stub{[](const std::string& request, std::size_t) {
        if (request.starts_with("POST"))
            return Answer{answer("200 OK", "<InitiateMultipartUploadResult><UploadId>id+1</UploadId></InitiateMultipartUploadResult>")};
        return request.starts_with("DELETE") ? Answer{answer("204 Gone")} : Answer{problem("403 Forbidden", "AccessDenied")};
    }};
    const auto tested = store(stub.url());
    const std::string content(static_cast<std::size_t>(part_size(0) + 1), 'x');
    auto upload = tested->upload("large", content.size()).value();
    EXPECT_EQ(upload->write(as_bytes(content)).error().code, Errc::not_allowed);
    upload.reset();
    EXPECT_TRUE(stub.requests().front().starts_with("POST /bucket/large?uploads= HTTP")) << stub.requests().front();
    EXPECT_TRUE(stub.requests().back().starts_with("DELETE /bucket/large?uploadId=id%2B1 HTTP")) << stub.requests().back();
}

TEST_F(S3WriteFaults, ACompletionOf200WithAnErrorIsNoSuccess)
{
    Stub stub{[](const std::string& request, std::size_t) {
        if (request.find("uploads=") != std::string::npos)
            return Answer{answer("200 OK", "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>")};
        if (request.starts_with("POST")) return Answer{problem("200 OK", "InternalError")};
        if (request.starts_with("HEAD")) return Answer{answer("404 Not Found")};
        if (request.starts_with("GET")) return Answer{answer("200 OK", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")};
        return Answer{answer("200 OK", "", "ETag: \"part\"\r\n")};
    }};
    const auto tested = store(stub.url());
    const std::string content(static_cast<std::size_t>(part_size(0) + 1), 'x');
    auto upload = tested->upload("large", content.size()).value();
    ASSERT_TRUE(upload->write(as_bytes(content)));
    EXPECT_EQ(upload->commit().error().code, Errc::timed_out);
    upload.reset();
    EXPECT_TRUE(stub.requests().back().starts_with("DELETE"));
}

}  // namespace
}  // namespace shoal::objectstore
