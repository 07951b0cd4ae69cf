// Events on their way from the network thread to the owner's loop: the one place where something crosses without a post. Any thread.
#pragma once

#include "common/swarm/events.hpp"

#include <functional>
#include <mutex>
#include <vector>

namespace shoal::swarm {

class Outbox {
public:
    explicit Outbox(std::function<void()> notify) : notify_{std::move(notify)} {}

    void push(Event event)
    {
        std::function<void()> notify;
        {
            const std::lock_guard lock{mutex_};
            events_.push_back(std::move(event));
            if (events_.size() == 1) notify = notify_;  // whoever was told takes all
        }
        if (notify) notify();
    }
    std::vector<Event> take()
    {
        const std::lock_guard lock{mutex_};
        return std::exchange(events_, {});
    }
    void close()  // notify is not called any more
    {
        const std::lock_guard lock{mutex_};
        notify_ = nullptr;
    }

private:
    std::mutex mutex_;
    std::vector<Event> events_;  // bounded by what the torrents do between two poll(): a few per piece
    std::function<void()> notify_;
};

}  // namespace shoal::swarm
