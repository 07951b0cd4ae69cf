// Starts a coroutine on a loop. For common/net only.
#pragma once

#include <utility>  // boost 1.74's awaitable.hpp lacks it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

namespace shoal::net {

// `work`: () -> asio::awaitable<void>. What it throws leaves Loop::run(), so that a fault ends the process and is told in main.
template <typename Work>
void start(boost::asio::io_context& io, Work work)
{
    boost::asio::co_spawn(io, std::move(work), [](const std::exception_ptr& fault) {
        if (fault) std::rethrow_exception(fault);
    });
}

}  // namespace shoal::net
