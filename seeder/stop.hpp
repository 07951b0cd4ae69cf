// SIGTERM and SIGINT during a command: it is asked to end, and ended if it does not. Nothing that a command leaves behind is visible, so that is always right.
#pragma once

#include <atomic>
#include <thread>

namespace shoal::seeder {

class Stop {
public:
    Stop();   // before any other thread: signals are taken from here on
    ~Stop();  // gives them back
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    [[nodiscard]] bool requested() const { return signal_ != 0; }  // any thread
    [[nodiscard]] int exit_code() const { return 128 + signal_; }

private:
    void watch();

    std::atomic<int> signal_{0};
    int ended_;  // eventfd
    std::thread watcher_;
};

}  // namespace shoal::seeder
