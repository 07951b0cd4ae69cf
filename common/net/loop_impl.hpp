// What is behind a Loop: Asio's event loop. For common/net only.
#pragma once

#include "common/net/loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace shoal::net {

struct Loop::Impl {
    boost::asio::io_context io{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay{io.get_executor()};
};

}  // namespace shoal::net
