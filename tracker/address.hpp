// IP addresses as values: read, printed one way, matched with ranges. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::tracker {

struct Address {
    std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
    [[nodiscard]] bool is_v4() const;
    [[nodiscard]] bool is_unspecified() const;
    auto operator<=>(const Address&) const = default;
};

// "10.0.0.1", "fd00::1"; an IPv6 address that maps an IPv4 one is that one. Nothing else: no name, port, zone or brackets.
std::optional<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);
std::string endpoint(const Address& address, std::uint16_t port);  // "10.0.0.1:6881", "[fd00::1]:6881"

struct Endpoint {
    Address address;
    std::uint16_t port = 0;
    auto operator<=>(const Endpoint&) const = default;
};
std::optional<Endpoint> parse_endpoint(std::string_view text);  // what endpoint() prints

struct AddressRange {
    Address base;
    unsigned bits = 128;  // of base.bytes
    [[nodiscard]] bool contains(const Address& address) const;
};

// "10.0.0.0/8", "fd00::/64", or one address.
std::optional<AddressRange> parse_range(std::string_view text);

}  // namespace shoal::tracker
