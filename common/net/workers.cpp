#include "common/net/loop.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::net {

struct Workers::Impl {
    struct Job {
        std::function<void()> work;
        std::function<void()> done;
    };

    explicit Impl(Loop& loop) : loop_{loop} {}

    bool push(Job job)
    {
        {
            const std::lock_guard lock{mutex_};
            if (queue_.size() >= most_queued) return false;
            queue_.push_back(std::move(job));
        }
        wake_.notify_one();
        return true;
    }

    void serve()
    {
        for (Job job; take(job); job = {}) {
            job.work();
            job.work = nullptr;  // what it holds is let go here, before its end is told
            loop_.post([alive = std::weak_ptr{alive_}, done = std::move(job.done)] {
                if (alive.lock() && done) done();
            });
        }
    }

    bool take(Job& job)
    {
        std::unique_lock lock{mutex_};
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) return false;
        job = std::move(queue_.front());
        queue_.pop_front();
        return true;
    }

    void stop()
    {
        std::deque<Job> dropped;
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
            dropped.swap(queue_);
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
        alive_.reset();
    }

    Loop& loop_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Job> queue_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

Workers::Workers(Loop& loop, unsigned threads) : impl_{std::make_unique<Impl>(loop)}
{
    for (unsigned i = 0; i < threads; ++i) impl_->threads_.emplace_back([impl = impl_.get()] { impl->serve(); });
}

Workers::~Workers()
{
    impl_->stop();
}

bool Workers::run(std::function<void()> job, std::function<void()> done)
{
    return impl_->push({std::move(job), std::move(done)});
}

}  // namespace shoal::net
