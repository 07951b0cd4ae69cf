// What the AWS_* variables and the shared files say about how a store is reached. Empty variables count as unset. Reads files; any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/objectstore/s3_request.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace shoal::objectstore {

// A variable's value; empty where it is not set.
using Environment = std::function<std::string(const std::string& name)>;
std::string process_environment(const std::string& name);

using Profile = std::map<std::string, std::string>;
// Of a file in the form of ~/.aws/credentials or ~/.aws/config ("[profile x]" is x there); what is no line of it is passed over.
std::map<std::string, Profile> parse_profiles(std::string_view text);

struct SharedProfile {
    std::string name;         // AWS_PROFILE, else "default"
    Profile values;           // of the credentials file, and where it lacks one of the config file
    std::string credentials;  // path of the credentials file, for messages
};
// Nothing in it where there are no such files, or they may not be read. not_found: AWS_PROFILE names one that neither has.
Result<SharedProfile> read_shared_profile(const Environment& environment);

struct S3Settings {
    Endpoint endpoint;
    std::string region;
    Addressing addressing = Addressing::path;
    std::string ca_file;
    bool custom_endpoint = false;
};
// For a bucket: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_S3_FORCE_PATH_STYLE, AWS_CA_BUNDLE, the profile; invalid names the variable.
Result<S3Settings> read_s3_settings(const Environment& environment, const std::string& bucket);

}  // namespace shoal::objectstore
