// The way onto libtorrent's network thread, which owns all state of a session below its public face. post() from any thread.
#pragma once

#include <libtorrent/fwd.hpp>
#include <libtorrent/io_context.hpp>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace shoal::swarm {

class NetworkThread {
public:
    explicit NetworkThread(lt::io_context& context) : context_{&context} {}

    // Runs `work` there, in the order of the calls, never inside this call, and before what the caller asks of libtorrent after it. Dropped after close().
    template <typename Work>
    void post(Work work)
    {
        enqueue(std::make_unique<Task<Work>>(std::move(work)));
    }
    // Nothing is run any more. On the network thread, or when it has ended.
    void close();

private:
    struct AnyTask {
        virtual ~AnyTask() = default;
        virtual void run() = 0;
    };
    template <typename Work>
    struct Task final : AnyTask {
        explicit Task(Work&& with) : work(std::move(with)) {}
        void run() override { work(); }
        Work work;
    };
    // What was posted and not run. Outlives this object in the handler that will drain it.
    struct Queue {
        std::mutex mutex;
        std::vector<std::unique_ptr<AnyTask>> tasks;
        bool closed = false;
    };
    void enqueue(std::unique_ptr<AnyTask> task);
    static void drain(Queue& queue);

    lt::io_context* context_;
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace shoal::swarm
