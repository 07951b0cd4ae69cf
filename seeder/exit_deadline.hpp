// Ends the process for good when an orderly end takes too long: a read of a store that hangs cannot be called back. Any thread.
#pragma once

#include "common/core/clock.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace shoal::seeder {

class ExitDeadline {
public:
    // Exits with `code`, without destructors, unless destroyed before `within` has passed.
    ExitDeadline(Duration within, int code);
    ~ExitDeadline();
    ExitDeadline(const ExitDeadline&) = delete;
    ExitDeadline& operator=(const ExitDeadline&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable ending_;
    bool in_time_ = false;
    std::thread thread_;
};

}  // namespace shoal::seeder
