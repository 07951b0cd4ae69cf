#include "common/net/address.hpp"

#include "common/net/http.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>

namespace shoal::net {
namespace {

auto refused(std::string_view text, const char* expected)
{
    return failure(Errc::invalid, "'" + std::string{text.substr(0, 200)} + "': expected " + expected);
}

bool is_address(int family, const std::string& text)
{
    std::array<std::uint8_t, 16> bytes{};
    return ::inet_pton(family, text.c_str(), bytes.data()) == 1;
}

// A link-local address may name its interface: "fe80::1%eth0".
bool is_address6(const std::string& text)
{
    const auto zone = text.find('%');
    return zone + 1 != text.size() && is_address(AF_INET6, text.substr(0, zone));
}

bool is_port(std::string_view text, std::uint16_t& port)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size();
}

// "1.2.3.4" and "[::1]".
bool is_host(std::string_view text, std::string& address)
{
    const bool bracketed = text.size() > 2 && text.starts_with('[') && text.ends_with(']');
    address = bracketed ? text.substr(1, text.size() - 2) : text;
    return bracketed ? is_address6(address) : is_address(AF_INET, address);
}

}  // namespace

std::string endpoint_text(const std::string& host, std::uint16_t port)
{
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> parse_listen(std::string_view text)
{
    constexpr const char* expected = "an address and a port: ADDR:PORT, [ADDR6]:PORT or :PORT";
    const auto colon = text.rfind(':');
    HostPort found;
    if (colon == std::string_view::npos || !is_port(text.substr(colon + 1), found.port)) return refused(text, expected);
    if (colon > 0 && !is_host(text.substr(0, colon), found.address)) return refused(text, expected);
    return found;
}

Result<HostPort> parse_advertised(std::string_view text)
{
    HostPort found;
    if (is_host(text, found.address)) return found;
    found.address = text;
    if (is_address6(found.address)) return found;
    const auto colon = text.rfind(':');
    if (colon != std::string_view::npos && is_host(text.substr(0, colon), found.address) && is_port(text.substr(colon + 1), found.port) && found.port != 0)
        return found;
    return refused(text, "an address, with or without a port from 1 to 65535: ADDR, ADDR:PORT or [ADDR6]:PORT");
}

Result<void> check_tracker(const std::string& text)
{
    BOOST_OUTCOME_TRYV(parse_url(text));
    return success();
}

Result<void> check_http(const std::string& text)
{
    if (!text.empty()) {
        BOOST_OUTCOME_TRYV(parse_listen(text));
    }
    return success();
}

Result<void> check_peer_listen(const std::string& text)
{
    BOOST_OUTCOME_TRY(place, parse_listen(text));
    if (!place.address.empty()) return success();
    return failure(Errc::invalid, "'" + text + "': expected an address too, such as 0.0.0.0" + text + " or [::]" + text);
}

Result<void> check_advertised(const std::string& text)
{
    if (!text.empty()) {
        BOOST_OUTCOME_TRYV(parse_advertised(text));
    }
    return success();
}

}  // namespace shoal::net
