#include "tracker/address.hpp"

#include "common/net/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace shoal::tracker {
namespace {

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool Address::is_v4() const
{
    return std::equal(mapped.begin(), mapped.end(), bytes.begin());
}

bool Address::is_unspecified() const
{
    const std::size_t first = is_v4() ? mapped.size() : 0;
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<Address> parse_address(std::string_view text)
{
    const std::string copy{text.substr(0, INET6_ADDRSTRLEN)};
    Address address;
    if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
    std::copy(mapped.begin(), mapped.end(), address.bytes.begin());
    if (inet_pton(AF_INET, copy.c_str(), address.bytes.data() + mapped.size()) == 1) return address;
    return std::nullopt;
}

std::string to_string(const Address& address)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.is_v4())
        inet_ntop(AF_INET, address.bytes.data() + mapped.size(), text.data(), text.size());
    else
        inet_ntop(AF_INET6, address.bytes.data(), text.data(), text.size());
    return text.data();
}

std::string endpoint(const Address& address, std::uint16_t port)
{
    return net::endpoint_text(to_string(address), port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    const auto address = parse_address(host);
    const std::string_view digits = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (!address || address->is_v4() == bracketed || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return Endpoint{*address, port};
}

bool AddressRange::contains(const Address& address) const
{
    const std::size_t whole = bits / 8;
    if (!std::equal(base.bytes.begin(), base.bytes.begin() + static_cast<std::ptrdiff_t>(whole), address.bytes.begin())) return false;
    if (bits % 8 == 0) return true;
    const unsigned shift = 8 - bits % 8;
    return (base.bytes[whole] >> shift) == (address.bytes[whole] >> shift);
}

std::optional<AddressRange> parse_range(std::string_view text)
{
    const std::size_t slash = text.find('/');
    const auto base = parse_address(text.substr(0, slash));
    if (!base) return std::nullopt;
    if (slash == std::string_view::npos) return AddressRange{*base, 128};
    const std::string_view digits = text.substr(slash + 1);
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    const unsigned most = base->is_v4() ? 32 : 128;
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || bits > most) return std::nullopt;
    return AddressRange{*base, bits + (128 - most)};
}

}  // namespace shoal::tracker
