#include "common/net/listener.hpp"

#include "common/net/address.hpp"

#include <boost/asio/ip/v6_only.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace shoal::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int backlog = 4096;  // the kernel cuts it to net.core.somaxconn

enum class Stack { single, dual };

error_code open(tcp::acceptor& acceptor, const tcp::endpoint& at, Stack stack)
{
    error_code ec;
    acceptor.open(at.protocol(), ec);
    if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec && at.address().is_v6()) acceptor.set_option(asio::ip::v6_only(stack == Stack::single), ec);
    if (!ec) acceptor.bind(at, ec);
    if (!ec) acceptor.listen(backlog, ec);
    return ec;
}

Result<tcp::acceptor> opened(asio::io_context& io, const tcp::endpoint& at, Stack stack)
{
    tcp::acceptor acceptor{io};
    const error_code ec = open(acceptor, at, stack);
    if (!ec) return acceptor;
    Error error = system_error(ec.value(), "cannot listen", text_of(at));
    error.hint = "choose another address or port";
    return failure(std::move(error));
}

Result<tcp::acceptor> opened_on_all(asio::io_context& io, std::uint16_t port)
{
    tcp::acceptor acceptor{io};
    const error_code ec = open(acceptor, {tcp::v6(), port}, Stack::dual);
    if (!ec) return acceptor;
    const bool no_ipv6 = ec == asio::error::address_family_not_supported || ec == boost::system::errc::address_not_available;
    return no_ipv6 ? opened(io, {tcp::v4(), port}, Stack::single) : opened(io, {tcp::v6(), port}, Stack::dual);
}

}  // namespace

Result<tcp::acceptor> open_listener(asio::io_context& io, const std::string& endpoint)
{
    const auto wanted = parse_listen(endpoint);
    if (!wanted) return failure(Errc::invalid, "cannot listen: " + wanted.error().message);
    const std::uint16_t port = wanted.value().port;
    if (wanted.value().address.empty()) return opened_on_all(io, port);
    error_code ec;
    const auto address = asio::ip::make_address(wanted.value().address, ec);
    if (ec) return failure(Errc::invalid, "cannot listen: '" + endpoint + "': '" + wanted.value().address + "' is not an address");
    return opened(io, {address, port}, Stack::single);
}

void allow_descriptors(std::size_t count)
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

std::string text_of(const asio::ip::address& address)
{
    if (address.is_v6() && address.to_v6().is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
    return address.to_string();
}

std::string text_of(const tcp::endpoint& endpoint)
{
    return endpoint_text(endpoint.address().to_string(), endpoint.port());
}

}  // namespace shoal::net
