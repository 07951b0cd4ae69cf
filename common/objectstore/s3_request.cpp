#include "common/objectstore/s3_request.hpp"

#include "common/model/names.hpp"

#include <algorithm>

namespace shoal::objectstore {
namespace {

constexpr std::string_view scheme = "s3://";
constexpr std::string_view amazon = ".amazonaws.com";

bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

std::string encoded(std::string_view text, std::string_view kept)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out.append({'%', digits[byte >> 4U], digits[byte & 15U]});
        }
    }
    return out;
}

Error no_s3_url(const std::string& url, const std::string& why)
{
    return {Errc::invalid, "not the URL of a store: '" + shown_url(url) + "': " + why, "give s3://bucket or s3://bucket/prefix"};
}

// Lower-case letters, digits, "-" and ".", as DNS wants them; "_" and capitals are in old buckets and other stores.
bool is_bucket_name(std::string_view name)
{
    const auto allowed = [](char c) { return is_unreserved(c) && c != '~'; };
    return name.size() >= 3 && name.size() <= 255 && std::all_of(name.begin(), name.end(), allowed) && name.front() != '.' && name.front() != '-' &&
           name.find("..") == std::string_view::npos;
}

bool is_plain_prefix(std::string_view prefix)
{
    while (!prefix.empty()) {
        const std::string_view part = prefix.substr(0, prefix.find('/'));
        if (part.empty() || part == "." || part == "..") return false;
        prefix.remove_prefix(std::min(prefix.size(), part.size() + 1));
    }
    return true;
}

std::string_view name_of_host(std::string_view host)
{
    const std::size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
    return host.substr(0, colon);
}

}  // namespace

std::string percent_encoded(std::string_view text)
{
    return encoded(text, "");
}

std::string percent_encoded_path(std::string_view path)
{
    return encoded(path, "/");
}

std::string percent_decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string query_text(const Query& query)
{
    std::string text;
    for (const auto& [name, value] : query) text.append(text.empty() ? "" : "&").append(percent_encoded(name)).append("=").append(percent_encoded(value));
    return text;
}

std::string shown_url(const std::string& url)
{
    return url.find('@') == std::string::npos ? model::printable(url) : "(not shown)";
}

Result<S3Location> parse_s3_url(const std::string& url)
{
    if (!url.starts_with(scheme)) return failure(no_s3_url(url, "expected s3://"));
    const std::string_view rest = std::string_view{url}.substr(scheme.size());
    S3Location location;
    location.bucket = rest.substr(0, rest.find('/'));
    if (!is_bucket_name(location.bucket)) return failure(no_s3_url(url, "no bucket has such a name"));
    std::string_view prefix = rest.substr(std::min(rest.size(), location.bucket.size() + 1));
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    if (!is_plain_prefix(prefix)) return failure(no_s3_url(url, "its prefix has an empty part, '.' or '..'"));
    if (!prefix.empty()) location.prefix = std::string{prefix} + "/";
    return location;
}

std::string s3_url(const S3Location& location)
{
    std::string url = std::string{scheme} + location.bucket;
    if (!location.prefix.empty()) url.append("/").append(location.prefix, 0, location.prefix.size() - 1);
    return url;
}

Result<Endpoint> parse_endpoint(const std::string& url)
{
    const auto refused = [&url](const char* why) {
        return failure(Errc::invalid, "not the URL of an endpoint: '" + shown_url(url) + "': " + why, "give http(s)://host[:port][/path]");
    };
    Endpoint endpoint;
    const std::size_t colon = url.find("://");
    if (colon == std::string::npos) return refused("no scheme");
    endpoint.scheme = url.substr(0, colon);
    if (endpoint.scheme != "http" && endpoint.scheme != "https") return refused("neither http nor https");
    const std::string rest = url.substr(colon + 3);
    if (rest.find_first_of("@?# \\") != std::string::npos) return refused("a user, a query, or a character that cannot be");
    endpoint.host = rest.substr(0, rest.find('/'));
    if (name_of_host(endpoint.host).empty()) return refused("no host");
    endpoint.path = rest.substr(endpoint.host.size());
    while (endpoint.path.ends_with('/')) endpoint.path.pop_back();
    return endpoint;
}

std::string object_url(const Endpoint& endpoint, Addressing addressing, const std::string& bucket, std::string_view key, const Query& query)
{
    std::string url = endpoint.scheme + "://";
    if (addressing == Addressing::virtual_host) url.append(bucket).append(".");
    url.append(endpoint.host).append(endpoint.path);
    if (addressing == Addressing::path) url.append("/").append(percent_encoded_path(bucket));
    if (addressing == Addressing::virtual_host || !key.empty()) url.append("/").append(percent_encoded_path(key));
    if (!query.empty()) url.append("?").append(query_text(query));
    return url;
}

bool may_follow(const Endpoint& from, const std::string& location)
{
    const auto target = parse_endpoint(location.substr(0, location.find('?')));
    if (!target || (from.scheme == "https" && target.value().scheme != "https")) return false;
    const std::string_view there = name_of_host(target.value().host);
    const std::string_view here = name_of_host(from.host);
    if (there == here || there.ends_with("." + std::string{here})) return true;
    return here.ends_with(amazon) && there.ends_with(amazon);
}

}  // namespace shoal::objectstore
