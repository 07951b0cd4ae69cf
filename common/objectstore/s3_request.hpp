// Where an object of S3 lies and how a request for it is written, so that its signature is what the store computes. Pure.
#pragma once

#include "common/core/result.hpp"

#include <map>
#include <string>
#include <string_view>

namespace shoal::objectstore {

// All but A-Z a-z 0-9 - . _ ~ as %XX; in a path "/" stays.
std::string percent_encoded(std::string_view text);
std::string percent_encoded_path(std::string_view path);
// %XX; a "%" that begins no escape stands for itself, as people write paths.
std::string percent_decoded(std::string_view text);

using Query = std::map<std::string, std::string>;  // sorted by name, as a signature wants it
std::string query_text(const Query& query);        // "a=1&uploads="; each name with its "="

// For messages: not shown where keys or a password may be in it.
std::string shown_url(const std::string& url);

// s3://bucket[/prefix]
struct S3Location {
    std::string bucket;
    std::string prefix;  // empty, or ends in "/"
    bool operator==(const S3Location&) const = default;
};
// invalid: no bucket, a name that S3 does not have, an empty or dotted part of the prefix.
Result<S3Location> parse_s3_url(const std::string& url);
std::string s3_url(const S3Location& location);

struct Endpoint {
    std::string scheme;  // http or https
    std::string host;    // with its port where one is given
    std::string path;    // empty, or "/gateway"
    bool operator==(const Endpoint&) const = default;
};
// invalid names the text: other schemes, a user, a query, no host.
Result<Endpoint> parse_endpoint(const std::string& url);

enum class Addressing { path, virtual_host };

// The URL of a key of a bucket; an empty key: of the bucket.
std::string object_url(const Endpoint& endpoint, Addressing addressing, const std::string& bucket, std::string_view key, const Query& query);

// Whether a redirect may be followed with a signature of ours: to the same host or one below it, to another of Amazon's from one of Amazon's, never from https to http.
bool may_follow(const Endpoint& from, const std::string& location);

}  // namespace shoal::objectstore
