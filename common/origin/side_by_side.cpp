#include "common/origin/side_by_side.hpp"

#include <algorithm>
#include <atomic>

namespace shoal::origin {

// `job` lives as long as an index below `count` is claimed and not ended: the caller waits for those.
struct SideBySide::Batch {
    const std::function<void(std::size_t)>* job;
    std::size_t count;
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable all_ended;
    std::size_t ended = 0;

    Batch(const std::function<void(std::size_t)>& work, std::size_t size) : job{&work}, count{size} {}

    void take_part()
    {
        std::size_t done = 0;
        for (std::size_t i = next++; i < count; i = next++, ++done) (*job)(i);
        const std::lock_guard lock{mutex};
        ended += done;
        if (ended == count) all_ended.notify_all();
    }
    void wait()
    {
        std::unique_lock lock{mutex};
        all_ended.wait(lock, [this] { return ended == count; });
    }
};

SideBySide::SideBySide(unsigned threads)
{
    threads_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

SideBySide::~SideBySide()
{
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
    }
    offered_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void SideBySide::run(std::size_t count, const std::function<void(std::size_t)>& job)
{
    const auto batch = std::make_shared<Batch>(job, count);
    if (count > 1) offer(batch, std::min(count - 1, threads_.size()));
    batch->take_part();
    batch->wait();
}

void SideBySide::offer(const std::shared_ptr<Batch>& batch, std::size_t hands)
{
    {
        const std::lock_guard lock{mutex_};
        const std::size_t room = 2 * threads_.size() - std::min(2 * threads_.size(), offers_.size());
        offers_.insert(offers_.end(), std::min(hands, room), batch);
    }
    offered_.notify_all();
}

void SideBySide::work()
{
    for (;;) {
        std::unique_lock lock{mutex_};
        offered_.wait(lock, [this] { return ending_ || !offers_.empty(); });
        if (ending_) return;
        const std::shared_ptr<Batch> batch = std::move(offers_.front());
        offers_.pop_front();
        lock.unlock();
        batch->take_part();
    }
}

}  // namespace shoal::origin
