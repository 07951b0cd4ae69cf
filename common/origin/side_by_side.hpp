// Threads that join in when a caller has many small things to wait for. Any thread may call; several at once share them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal::origin {

class SideBySide {
public:
    explicit SideBySide(unsigned threads);
    ~SideBySide();  // after the last run() has returned
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    // job(0) to job(count - 1), each once, on the caller and whoever is idle; returns when all have ended. A busy pool leaves more to the caller.
    void run(std::size_t count, const std::function<void(std::size_t)>& job);

private:
    struct Batch;
    void offer(const std::shared_ptr<Batch>& batch, std::size_t hands);
    void work();

    std::mutex mutex_;
    std::condition_variable offered_;
    std::deque<std::shared_ptr<Batch>> offers_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace shoal::origin
