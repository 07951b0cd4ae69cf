#include "common/objectstore/s3_settings.hpp"

#include "common/files/file.hpp"
#include "common/model/names.hpp"

#include <algorithm>
#include <cstdlib>

namespace shoal::objectstore {
namespace {

constexpr std::size_t most_of_file = 1U << 20U;

std::string_view trimmed(std::string_view text)
{
    const std::size_t from = text.find_first_not_of(" \t\r");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

std::string first_of(const Environment& environment, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        if (std::string value = environment(name); !value.empty()) return value;
    }
    return {};
}

std::string shared_file(const Environment& environment, const char* variable, const char* name)
{
    if (std::string path = environment(variable); !path.empty()) return path;
    const std::string home = environment("HOME");
    return home.empty() ? std::string{} : home + "/.aws/" + name;
}

Result<std::map<std::string, Profile>> read_profiles(const std::string& path)
{
    if (path.empty()) return std::map<std::string, Profile>{};
    const auto text = files::read_small(path, most_of_file);
    if (text) return parse_profiles(text.value());
    if (text.error().code == Errc::not_found || text.error().code == Errc::not_allowed) return std::map<std::string, Profile>{};
    return failure(text.error());
}

Result<Addressing> read_addressing(const Environment& environment, const Endpoint& endpoint, const std::string& bucket)
{
    const std::string forced = environment("AWS_S3_FORCE_PATH_STYLE");
    if (forced == "true" || forced == "1") return Addressing::path;
    if (forced == "false" || forced == "0") return Addressing::virtual_host;
    if (!forced.empty())
        return failure(
            Errc::invalid, "environment: AWS_S3_FORCE_PATH_STYLE: '" + model::printable(forced) + "': expected true or false", "correct it, or unset it");
    // A certificate's * stands for one label.
    const bool dotted = bucket.find('.') != std::string::npos;
    return endpoint.host.ends_with(".amazonaws.com") && !dotted ? Addressing::virtual_host : Addressing::path;
}

}  // namespace

std::string process_environment(const std::string& name)
{
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::string{} : value;
}

std::map<std::string, Profile> parse_profiles(std::string_view text)
{
    std::map<std::string, Profile> profiles;
    Profile* current = nullptr;
    while (!text.empty()) {
        const std::string_view raw = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), raw.size() + 1));
        const std::string_view line = trimmed(raw);
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        if (line.front() == '[' && line.back() == ']') {
            std::string_view name = trimmed(line.substr(1, line.size() - 2));
            if (name.starts_with("profile ")) name = trimmed(name.substr(8));
            current = &profiles[std::string{name}];
            continue;
        }
        const std::size_t equals = line.find('=');
        const bool nested = raw.front() == ' ' || raw.front() == '\t';  // below "s3 =": not ours
        if (current == nullptr || equals == std::string_view::npos || nested) continue;
        (*current)[std::string{trimmed(line.substr(0, equals))}] = trimmed(line.substr(equals + 1));
    }
    return profiles;
}

Result<SharedProfile> read_shared_profile(const Environment& environment)
{
    const std::string asked = environment("AWS_PROFILE");
    SharedProfile shared{asked.empty() ? "default" : asked, {}, shared_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials")};
    const std::string config = shared_file(environment, "AWS_CONFIG_FILE", "config");
    BOOST_OUTCOME_TRY(from_credentials, read_profiles(shared.credentials));
    BOOST_OUTCOME_TRY(from_config, read_profiles(config));
    const bool known = from_credentials.contains(shared.name) || from_config.contains(shared.name);
    if (!known && !asked.empty())
        return failure(Errc::not_found,
            "no such profile: AWS_PROFILE '" + model::printable(asked) + "': neither " + shared.credentials + " nor " + config + " has it",
            "correct AWS_PROFILE, or add it");
    shared.values = from_credentials[shared.name];
    shared.values.merge(from_config[shared.name]);
    return shared;
}

Result<S3Settings> read_s3_settings(const Environment& environment, const std::string& bucket)
{
    BOOST_OUTCOME_TRY(profile, read_shared_profile(environment));
    S3Settings settings;
    settings.region = first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
    if (settings.region.empty()) settings.region = profile.values["region"];
    if (settings.region.empty()) settings.region = "us-east-1";
    std::string endpoint = first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
    if (endpoint.empty()) endpoint = profile.values["endpoint_url"];
    settings.custom_endpoint = !endpoint.empty();
    if (endpoint.empty()) endpoint = "https://s3." + settings.region + ".amazonaws.com";
    auto parsed = parse_endpoint(endpoint);
    if (!parsed) return failure(Errc::invalid, "environment: AWS_ENDPOINT_URL: " + parsed.error().message, parsed.error().hint);
    settings.endpoint = std::move(parsed).value();
    BOOST_OUTCOME_TRY(addressing, read_addressing(environment, settings.endpoint, bucket));
    settings.addressing = addressing;
    settings.ca_file = environment("AWS_CA_BUNDLE");
    return settings;
}

}  // namespace shoal::objectstore
