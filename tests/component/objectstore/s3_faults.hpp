// A store at an endpoint that misbehaves, in time that does not pass, and keys that must not be shown.
#pragma once

#include "tests/component/objectstore/s3_stub.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace shoal::objectstore {

constexpr const char* secret = "verysecretverysecretverysecret";

inline std::size_t count(const std::string& text, const std::string& what)
{
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

class S3Faults : public testing::Test {
protected:
    std::unique_ptr<S3Store> store(const std::string& endpoint, S3Limits limits = {}, std::map<std::string, std::string> more = {},
        const S3Clock* clock = nullptr, const std::string& prefix = "")
    {
        std::map<std::string, std::string> variables{{"AWS_ENDPOINT_URL", endpoint}, {"AWS_ACCESS_KEY_ID", "AKIA"}, {"AWS_SECRET_ACCESS_KEY", secret},
            {"AWS_SESSION_TOKEN", "tokentoken"}, {"AWS_EC2_METADATA_DISABLED", "true"}};
        for (const auto& [name, value] : more) variables[name] = value;
        const Environment environment = [variables](const std::string& name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::string{} : found->second;
        };
        const auto settings = read_s3_settings(environment, "bucket");
        EXPECT_TRUE(settings) << settings.error().text();
        return std::make_unique<S3Store>(
            std::make_shared<S3Caller>(S3Location{"bucket", prefix}, settings.value(), environment, limits, clock == nullptr ? time.clock() : *clock));
    }
    // Four bytes from the second on of "0123456789".
    Result<std::string> range(S3Store& from, const std::optional<Version>& version = {})
    {
        std::string out(4, '?');
        BOOST_OUTCOME_TRY(from.get_range("the key", 2, std::as_writable_bytes(std::span{out}), version));
        return out;
    }
    static void names(const Error& error, std::initializer_list<const char*> words)
    {
        for (const char* word : words) EXPECT_NE(error.text().find(word), std::string::npos) << word << " in " << error.text();
        for (const char* hidden : {secret, "tokentoken", "Signature=", "AWS4-HMAC"}) EXPECT_EQ(error.text().find(hidden), std::string::npos) << error.text();
    }
    FakeTime time;
    const std::string good = answer("206 Partial Content", "2345", "Content-Range: bytes 2-5/10\r\nETag: \"v1\"\r\n");
};

inline std::string listing(std::initializer_list<const char*> keys, bool more)
{
    std::string xml = std::string{"<ListBucketResult><IsTruncated>"} + (more ? "true" : "false") + "</IsTruncated>";
    for (const char* key : keys) xml += std::string{"<Contents><Key>"} + key + "</Key><ETag>e</ETag><Size>0</Size></Contents>";
    return answer("200 OK", xml + "</ListBucketResult>");
}

}  // namespace shoal::objectstore
