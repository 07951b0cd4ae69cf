#include "common/net/http.hpp"

#include <algorithm>
#include <charconv>

namespace shoal::net {
namespace {

bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

auto refused(std::string_view text, const char* cause)
{
    return failure(Errc::invalid, "URL: '" + std::string{text.substr(0, 200)} + "': " + cause, "expected http://HOST[:PORT]");
}

bool is_host(std::string_view host, bool bracketed)
{
    if (host.empty() || host.size() > 253) return false;
    return std::all_of(host.begin(), host.end(), [bracketed](char c) { return is_unreserved(c) || (bracketed && (c == ':' || c == '%')); });
}

bool is_visible(std::string_view path)
{
    return std::all_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

// "host", "host:port", "[v6]", "[v6]:port" into host and what follows it.
bool split_host(std::string_view authority, Url& url, std::string_view& port)
{
    const bool bracketed = authority.starts_with('[');
    const auto end = bracketed ? authority.find(']') : authority.find(':');
    if (bracketed && end == std::string_view::npos) return false;
    url.host = authority.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
    const std::string_view after = end == std::string_view::npos ? std::string_view{} : authority.substr(bracketed ? end + 1 : end);
    port = after.empty() ? after : after.substr(1);
    return is_host(url.host, bracketed) && (after.empty() || (after[0] == ':' && !port.empty()));
}

}  // namespace

Result<Url> parse_url(std::string_view text)
{
    constexpr std::string_view prefix = "http://";
    if (!text.starts_with(prefix)) return refused(text, "only http:// is spoken");
    Url url;
    const std::string_view rest = text.substr(prefix.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    url.path = rest.substr(authority.size());
    std::string_view port;
    if (authority.find('@') != std::string_view::npos)
        return failure(Errc::invalid, "URL: user names and passwords are not taken", "expected http://HOST[:PORT]");
    if (!split_host(authority, url, port)) return refused(text, "not a host and port");
    if (url.path.size() > 4096 || !is_visible(url.path) || url.path.find('#') != std::string::npos) return refused(text.substr(0, 200), "not a path");
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
        if (error != std::errc{} || end != port.data() + port.size() || url.port == 0) return refused(text, "not a port");
    }
    return url;
}

std::string percent_encode(std::string_view text)
{
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_unreserved(c))
            encoded.push_back(c);
        else
            encoded.append(1, '%').append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
    }
    return encoded;
}

Result<std::string> percent_decode(std::string_view text)
{
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded.push_back(text[i]);
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) return failure(Errc::invalid, "percent-encoding: '" + std::string{text.substr(i, 3)} + "': expected % and two hex digits");
        decoded.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    return decoded;
}

}  // namespace shoal::net
