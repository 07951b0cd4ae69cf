// A listening TCP socket from what people write for --listen. For common/net only.
#pragma once

#include "common/core/result.hpp"

#include <utility>  // boost 1.74's awaitable.hpp lacks it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace shoal::net {

// "addr:port", "[addr6]:port", ":port" (all addresses: dual-stack IPv6 where there is any, else IPv4). invalid; else not_allowed or io, naming the address.
Result<boost::asio::ip::tcp::acceptor> open_listener(boost::asio::io_context& io, const std::string& endpoint);

// Raises the process's soft limit of open files to `count`, as far as the hard one lets it: 1024, the usual soft one, is less than a cluster's connections.
void allow_descriptors(std::size_t count);

// "1.2.3.4", also where it came as ::ffff:1.2.3.4.
std::string text_of(const boost::asio::ip::address& address);
std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);  // "1.2.3.4:80", "[::1]:80"

}  // namespace shoal::net
