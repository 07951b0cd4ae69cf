#include "common/objectstore/s3_credentials.hpp"

#include "common/files/file.hpp"
#include "common/json/reader.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/s3_request.hpp"
#include "common/objectstore/s3_retry.hpp"
#include "common/objectstore/s3_xml.hpp"

#include <cstdlib>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

using Found = Result<std::optional<Credentials>>;

constexpr std::size_t most_of_token = 64U << 10U;
constexpr std::int64_t renewed_before = 300;
constexpr std::int64_t between_askings = 10;
constexpr int attempts = 3;

std::string without_line_end(std::string text)
{
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    return text;
}

Error no_keys(const std::string& source, const std::string& why)
{
    return {Errc::not_allowed, "no credentials: " + source + ": " + why, "correct it, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"};
}

std::string told(const HttpReply& reply)
{
    return reply.status == 0 ? reply.cause : "status " + std::to_string(reply.status) + (reply.cause.empty() ? "" : ", " + reply.cause);
}

HttpReply ask_patiently(const Exchange& exchange, const HttpRequest& request)
{
    HttpReply reply;
    for (int i = 0; i < attempts; ++i) {
        reply = exchange(request);
        if (reply.failure == Failure::none && reply.status < 500 && reply.status != 429) break;
    }
    return reply;
}

Found from_environment(const Environment& environment)
{
    Credentials found{{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"), environment("AWS_SESSION_TOKEN")}, {}, "environment"};
    if (found.keys.id.empty() && found.keys.secret.empty()) return std::optional<Credentials>{};
    if (found.keys.id.empty()) return failure(no_keys("environment", "AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not"));
    if (found.keys.secret.empty()) return failure(no_keys("environment", "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not"));
    return std::optional{found};
}

Found from_profile(const Environment& environment)
{
    BOOST_OUTCOME_TRY(shared, read_shared_profile(environment));
    const std::string source = "profile " + model::printable(shared.name) + " of " + shared.credentials;
    Credentials found{{shared.values["aws_access_key_id"], shared.values["aws_secret_access_key"], shared.values["aws_session_token"]}, {}, source};
    if (found.keys.id.empty()) return std::optional<Credentials>{};
    if (found.keys.secret.empty()) return failure(no_keys(source, "it has aws_access_key_id and no aws_secret_access_key"));
    return std::optional{found};
}

// Where a service is, if the variable does not say otherwise; without a "/" at its end.
Result<std::string> service_of(const Environment& environment, const char* variable, const std::string& usual)
{
    const std::string url = environment(variable);
    if (url.empty()) return usual;
    const auto endpoint = parse_endpoint(url);
    if (!endpoint) return failure(no_keys(variable, endpoint.error().message));
    return endpoint.value().scheme + "://" + endpoint.value().host + endpoint.value().path;
}

// STS takes a form; its reply is XML.
std::string role_form(const std::string& role, const std::string& session, const std::string& token)
{
    return query_text({{"Action", "AssumeRoleWithWebIdentity"}, {"RoleArn", role}, {"RoleSessionName", session.empty() ? "shoal" : session},
        {"Version", "2011-06-15"}, {"WebIdentityToken", token}});
}

Found from_web_identity(const Environment& environment, const Exchange& exchange, const std::string& region)
{
    const std::string file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
    const std::string role = environment("AWS_ROLE_ARN");
    if (file.empty() || role.empty()) return std::optional<Credentials>{};
    const std::string source = "web identity " + model::printable(role);
    const auto token = files::read_small(file, most_of_token);
    if (!token) return failure(no_keys(source, token.error().message));
    BOOST_OUTCOME_TRY(service, service_of(environment, "AWS_ENDPOINT_URL_STS", "https://sts." + region + ".amazonaws.com"));
    const std::string url = service + "/";
    const std::string form = role_form(role, environment("AWS_ROLE_SESSION_NAME"), without_line_end(token.value()));
    const HttpReply reply =
        ask_patiently(exchange, {.method = "POST", .url = url, .headers = {"content-type: application/x-www-form-urlencoded"}, .body = form});
    if (!reply.ok()) return failure(no_keys(source, url + ": " + told(reply) + " " + decode_problem(reply.body).code));
    const auto keys = decode_assumed_role(reply.body);
    if (!keys) return failure(no_keys(source, url + ": " + keys.error().message));
    const AssumedRole& got = keys.value();
    return std::optional{Credentials{{got.key_id, got.secret, got.token}, parse_iso_date(got.expiration), source}};
}

bool is_loopback(std::string_view name)
{
    return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Its token must go to nobody else: plain HTTP to this machine and to the services of containers alone.
bool is_container_service(const std::string& url)
{
    if (url.starts_with("https://")) return true;
    const auto endpoint = parse_endpoint(url.substr(0, url.find('?')));
    if (!endpoint) return false;
    const std::string& host = endpoint.value().host;
    const std::string name = host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
    return name == "localhost" || is_loopback(name) || name == "[::1]" || name == "169.254.170.2" || name == "169.254.170.23" || name == "[fd00:ec2::23]";
}

Result<std::string> container_token(const Environment& environment, const std::string& source)
{
    const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (file.empty()) return environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const auto token = files::read_small(file, most_of_token);
    if (!token) return failure(no_keys(source, token.error().message));
    return without_line_end(token.value());
}

Found metadata_answer(const HttpReply& reply, const std::string& source)
{
    if (!reply.ok()) return failure(no_keys(source, told(reply)));
    auto found = decode_metadata(reply.body);
    if (!found) return failure(no_keys(source, found.error().message));
    found.value().source = source;
    return std::optional{std::move(found).value()};
}

Found from_container(const Environment& environment, const Exchange& exchange)
{
    const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const std::string url = relative.empty() ? environment("AWS_CONTAINER_CREDENTIALS_FULL_URI") : "http://169.254.170.2" + relative;
    if (url.empty()) return std::optional<Credentials>{};
    const std::string source = "container credentials";
    if (!is_container_service(url))
        return failure(no_keys(source, "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this machine or of a container service"));
    HttpRequest request{.url = url, .direct = true};
    BOOST_OUTCOME_TRY(token, container_token(environment, source));
    if (token.find_first_of("\r\n") != std::string::npos) return failure(no_keys(source, "the authorization token has more than one line"));
    if (!token.empty()) request.headers.push_back("authorization: " + token);
    return metadata_answer(ask_patiently(exchange, request), source);
}

// IMDSv2: a token of the session first, which a request that was tricked out of somebody cannot fetch.
Found from_instance(const Environment& environment, const Exchange& exchange)
{
    if (environment("AWS_EC2_METADATA_DISABLED") == "true") return std::optional<Credentials>{};
    BOOST_OUTCOME_TRY(base, service_of(environment, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://169.254.169.254"));
    HttpRequest request{.method = "PUT",
        .url = base + "/latest/api/token",
        .headers = {"x-aws-ec2-metadata-token-ttl-seconds: 21600"},
        .deadline = std::chrono::seconds{2},
        .connect_deadline = std::chrono::seconds{1},
        .direct = true};
    const HttpReply token = exchange(request);
    if (token.failure != Failure::none) return std::optional<Credentials>{};  // no such machine
    const std::string source = "instance metadata of " + base;
    if (!token.ok()) return failure(no_keys(source, told(token)));
    request.method = "GET";
    request.headers = {"x-aws-ec2-metadata-token: " + without_line_end(token.body)};
    request.url = base + "/latest/meta-data/iam/security-credentials/";
    const HttpReply role = ask_patiently(exchange, request);
    if (role.status == 404) return failure(no_keys(source, "the machine has no role"));
    if (!role.ok()) return failure(no_keys(source, told(role)));
    request.url += percent_encoded(role.body.substr(0, role.body.find_first_of("\r\n")));
    return metadata_answer(ask_patiently(exchange, request), source);
}

}  // namespace

Result<Credentials> decode_metadata(std::string_view text)
{
    const auto value = json::parse(text);
    if (!value || !value.value().is_object()) return failure(Errc::malformed, "the answer is no JSON object");
    json::Reader reader{value.value()};
    Credentials found{{reader.text("AccessKeyId"), reader.text("SecretAccessKey"), reader.text("Token")}, {}, {}};
    if (!reader.result() || found.keys.id.empty() || found.keys.secret.empty()) return failure(Errc::malformed, "the answer has no keys");
    if (reader.has("Expiration")) {
        found.ends = parse_iso_date(reader.text("Expiration"));
        if (!found.ends) return failure(Errc::malformed, "the answer has no date as its Expiration");
    }
    return found;
}

Result<Credentials> find_credentials(const Environment& environment, const Exchange& exchange, const std::string& region)
{
    BOOST_OUTCOME_TRY(fixed, from_environment(environment));
    if (fixed) return *fixed;
    BOOST_OUTCOME_TRY(web, from_web_identity(environment, exchange, region));
    if (web) return *web;
    BOOST_OUTCOME_TRY(profile, from_profile(environment));
    if (profile) return *profile;
    BOOST_OUTCOME_TRY(container, from_container(environment, exchange));
    if (container) return *container;
    BOOST_OUTCOME_TRY(instance, from_instance(environment, exchange));
    if (instance) return *instance;
    return failure(Errc::not_allowed, "no credentials: neither environment, profile, web identity, container nor instance metadata has any",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
}

bool is_due(const Credentials& held, std::int64_t asked_at, std::int64_t now)
{
    return held.ends && *held.ends - now < renewed_before && now - asked_at >= between_askings;
}

CredentialSource::CredentialSource(Environment environment, Exchange exchange, std::string region)
    : environment_{std::move(environment)}, exchange_{std::move(exchange)}, region_{std::move(region)}
{}

Result<Credentials> CredentialSource::ask(std::int64_t now)
{
    if (in_vain_ && std::abs(now - asked_at_) < between_askings) return failure(*in_vain_);
    asked_at_ = now;
    auto found = find_credentials(environment_, exchange_, region_);
    in_vain_ = found ? std::nullopt : std::optional{found.error()};
    if (found) held_ = found.value();
    return found;
}

// Others wait meanwhile: they need what is being asked for.
Result<Credentials> CredentialSource::current(std::int64_t now)
{
    const std::lock_guard lock{mutex_};
    if (!held_) return ask(now);
    if (!is_due(*held_, asked_at_, now)) return *held_;
    auto renewed = ask(now);
    if (!renewed && *held_->ends > now) return *held_;
    return renewed;
}

Result<Credentials> CredentialSource::newer_than(const SigningKeys& ended, std::int64_t now)
{
    const std::lock_guard lock{mutex_};
    if (held_ && held_->keys != ended) return *held_;
    return ask(now);
}

}  // namespace shoal::objectstore
