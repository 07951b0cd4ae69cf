#include "common/swarm/endpoint.hpp"

#include <libtorrent/address.hpp>
#include <libtorrent/error_code.hpp>

#include <charconv>
#include <cstdint>
#include <sstream>

namespace shoal::swarm {

std::optional<lt::tcp::endpoint> parse_endpoint(const std::string& text)
{
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    lt::error_code error;
    const lt::address address = lt::make_address(host, error);
    if (error || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return lt::tcp::endpoint{address, port};
}

std::string text_of(const lt::tcp::endpoint& endpoint)
{
    std::ostringstream text;
    text << endpoint;
    return text.str();
}

}  // namespace shoal::swarm
