// What S3 answers in XML, decoded: whatever its namespace, at most a few MiB, never throws. malformed for what is not what was asked. Any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/objectstore/object_store.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::objectstore {

inline constexpr std::size_t max_xml = 8U << 20U;  // a page of 1000 keys of 1024 bytes, each byte escaped, is 3 MiB

// The code and text of an error reply; empty where the body is none. Of its other parts some hold what was signed, so they are left out.
struct S3Problem {
    std::string code;
    std::string message;  // at most 300 bytes
};
S3Problem decode_problem(std::string_view xml);

struct Listing {
    std::vector<ObjectInfo> objects;
    bool more = false;
};
Result<Listing> decode_listing(std::string_view xml);  // ListBucketResult with encoding-type=url; a size that is no number is malformed

Result<std::string> decode_upload_id(std::string_view xml);  // InitiateMultipartUploadResult
Result<Version> decode_completed(std::string_view xml);      // CompleteMultipartUploadResult: the version; an Error in a reply of 200 is malformed

Result<Version> decode_copied(std::string_view xml);  // CopyObjectResult, as above

struct PendingUpload {
    std::string key;
    std::string id;
};
Result<std::vector<PendingUpload>> decode_uploads(std::string_view xml);  // ListMultipartUploadsResult with encoding-type=url

struct AssumedRole {
    std::string key_id;
    std::string secret;
    std::string token;
    std::string expiration;  // ISO 8601
};
Result<AssumedRole> decode_assumed_role(std::string_view xml);  // AssumeRoleWithWebIdentityResponse

// An ETag as a version: without its quotes.
Version version_of_etag(std::string_view etag);

}  // namespace shoal::objectstore
