#include "common/swarm/network_thread.hpp"

namespace shoal::swarm {

void NetworkThread::close()
{
    std::vector<std::unique_ptr<AnyTask>> dropped;
    const std::lock_guard lock{queue_->mutex};
    queue_->closed = true;
    dropped.swap(queue_->tasks);
}

void NetworkThread::enqueue(std::unique_ptr<AnyTask> task)
{
    const std::lock_guard lock{queue_->mutex};
    if (queue_->closed) return;
    queue_->tasks.push_back(std::move(task));
    // Each brings a drain of its own: one that the network thread itself has posted stands behind what other threads post after it.
    context_->get_executor().post([queue = queue_] { drain(*queue); }, std::allocator<void>{});
}

void NetworkThread::drain(Queue& queue)
{
    std::vector<std::unique_ptr<AnyTask>> tasks;
    {
        const std::lock_guard lock{queue.mutex};
        tasks.swap(queue.tasks);
    }
    for (const auto& task : tasks) task->run();
}

}  // namespace shoal::swarm
