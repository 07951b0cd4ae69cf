#include "common/origin/origin_gate.hpp"

#include <utility>

namespace shoal::origin {

bool OriginGate::admit(std::uint64_t bytes)
{
    std::unique_lock lock{mutex_};
    const std::uint64_t ticket = next_ticket_++;
    while (!closed_) {
        const TimePoint now = Clock::now();
        if (ticket != served_) {
            changed_.wait(lock);
        } else if (const TimePoint begin = bucket_.next(now); begin > now) {
            changed_.wait_until(lock, begin);
        } else {
            bucket_.take(bytes, now);
            ++served_;
            changed_.notify_all();
            return true;
        }
    }
    return false;
}

void OriginGate::charge(std::uint64_t bytes)
{
    const std::lock_guard lock{mutex_};
    bucket_.take(bytes, Clock::now());
}

void OriginGate::set_ceiling(std::optional<std::uint64_t> bytes_per_second)
{
    {
        const std::lock_guard lock{mutex_};
        if (bucket_.rate() == bytes_per_second) return;
        bucket_.set_rate(bytes_per_second, Clock::now());
    }
    changed_.notify_all();
}

bool OriginGate::lets_at_once(std::uint64_t bytes)
{
    const std::lock_guard lock{mutex_};
    return !bucket_.rate() || bytes <= *bucket_.rate() / 20;
}

bool OriginGate::was_asked()
{
    const std::lock_guard lock{mutex_};
    const std::uint64_t before = std::exchange(seen_, next_ticket_);
    return before != next_ticket_ || (served_ != next_ticket_ && !closed_);
}

bool OriginGate::rest(Duration pause)
{
    std::unique_lock lock{mutex_};
    return !changed_.wait_until(lock, Clock::now() + pause, [this] { return closed_; });
}

void OriginGate::close()
{
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    changed_.notify_all();
}

}  // namespace shoal::origin
