#include "common/swarm/disk_workers.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal::swarm {
namespace {

constexpr std::size_t most_queued = 4096;
constexpr std::chrono::milliseconds patience{1500};

}  // namespace

struct DiskWorkers::Shared {
    std::mutex mutex;
    std::condition_variable ready;
    std::condition_variable ended;
    std::deque<std::function<void()>> jobs;
    unsigned alive = 0;
    bool stop = false;
    std::vector<std::thread> threads;
};

DiskWorkers::DiskWorkers(unsigned threads) : shared_{std::make_shared<Shared>()}
{
    shared_->alive = threads;
    for (unsigned i = 0; i < threads; ++i) shared_->threads.emplace_back([shared = shared_] { work(*shared); });
}

DiskWorkers::~DiskWorkers()
{
    std::deque<std::function<void()>> dropped;
    std::unique_lock lock{shared_->mutex};
    shared_->stop = true;
    dropped.swap(shared_->jobs);
    shared_->ready.notify_all();
    const bool all = shared_->ended.wait_for(lock, patience, [this] { return shared_->alive == 0; });
    std::vector<std::thread> threads = std::move(shared_->threads);
    lock.unlock();
    for (std::thread& thread : threads) {
        if (all)
            thread.join();
        else
            thread.detach();  // stuck in a dead storage; see the header
    }
}

bool DiskWorkers::run(std::function<void()> job)
{
    {
        const std::lock_guard lock{shared_->mutex};
        if (shared_->stop || shared_->jobs.size() >= most_queued) return false;
        shared_->jobs.push_back(std::move(job));
    }
    shared_->ready.notify_one();
    return true;
}

void DiskWorkers::work(Shared& shared)
{
    std::unique_lock lock{shared.mutex};
    for (;;) {
        shared.ready.wait(lock, [&shared] { return shared.stop || !shared.jobs.empty(); });
        if (shared.stop) break;
        {
            const std::function<void()> job = std::move(shared.jobs.front());
            shared.jobs.pop_front();
            lock.unlock();
            job();
        }  // what the job owns goes before the lock is taken
        lock.lock();
    }
    --shared.alive;
    shared.ended.notify_all();
}

}  // namespace shoal::swarm
