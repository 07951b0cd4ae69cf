// The threads that touch storage and hash: few, with a bounded queue. run() from any thread.
#pragma once

#include <functional>
#include <memory>

namespace shoal::swarm {

class DiskWorkers {
public:
    explicit DiskWorkers(unsigned threads);
    // Drops what waits, and gives what runs 1.5 s to end. A read that is stuck in a dead storage cannot be ended: its thread is let go, with the storage
    // and the memory that the job keeps alive, and touches nothing else. Jobs must own all they use for that reason.
    ~DiskWorkers();
    DiskWorkers(const DiskWorkers&) = delete;
    DiskWorkers& operator=(const DiskWorkers&) = delete;

    bool run(std::function<void()> job);  // false: the queue is full, or this is the end

private:
    struct Shared;
    static void work(Shared& shared);
    std::shared_ptr<Shared> shared_;
};

}  // namespace shoal::swarm
