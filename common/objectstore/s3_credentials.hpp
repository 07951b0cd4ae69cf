// Who signs: keys from the usual places, in the usual order, and anew before they end. Any thread; a call may read a file or ask a service, 5 s at most each.
//
// The first of these that is configured is the one: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN; the shared
// profile; the container's service; the machine's (IMDSv2), unless AWS_EC2_METADATA_DISABLED.
#pragma once

#include "common/core/result.hpp"
#include "common/objectstore/http_exchange.hpp"
#include "common/objectstore/s3_settings.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::objectstore {

struct Credentials {
    SigningKeys keys;
    std::optional<std::int64_t> ends;  // seconds since 1970; nothing: never
    std::string source;                // for messages: "environment", "profile default of …"
};

// What container and instance metadata services answer. malformed without its bytes, which hold secrets.
Result<Credentials> decode_metadata(std::string_view text);

// Looks once through all places. not_allowed where none has keys, or the one that is configured does not give any; hints what can be set.
Result<Credentials> find_credentials(const Environment& environment, const Exchange& exchange, const std::string& region);

// Whether keys should be asked for anew: within five minutes of their end, and not again within ten seconds.
bool is_due(const Credentials& held, std::int64_t asked_at, std::int64_t now);

class CredentialSource {
public:
    CredentialSource(Environment environment, Exchange exchange, std::string region);

    // Those that are held, or newer ones where they end soon. If newer ones cannot be had, those that are held are given out until their end.
    Result<Credentials> current(std::int64_t now);
    // The store says that these have ended: others than them.
    Result<Credentials> newer_than(const SigningKeys& ended, std::int64_t now);

private:
    Result<Credentials> ask(std::int64_t now);  // who comes within ten seconds of an asking in vain is told what came of it

    Environment environment_;
    Exchange exchange_;
    std::string region_;
    std::mutex mutex_;
    std::optional<Credentials> held_;
    std::int64_t asked_at_ = 0;
    std::optional<Error> in_vain_;  // what was asked last
};

}  // namespace shoal::objectstore
