#include "seeder/origin_gate.hpp"

namespace shoal::seeder {

bool OriginGate::wait_until(std::unique_lock<std::mutex>& lock, TimePoint time)
{
    return !closing_.wait_until(lock, time, [this] { return closed_; });
}

bool OriginGate::admit(std::uint64_t bytes)
{
    std::unique_lock lock{mutex_};
    const TimePoint now = Clock::now();
    const TimePoint begin = bucket_.reserve(bytes, now);
    return begin <= now ? !closed_ : wait_until(lock, begin);
}

void OriginGate::charge(std::uint64_t bytes)
{
    const std::lock_guard lock{mutex_};
    bucket_.reserve(bytes, Clock::now());
}

bool OriginGate::rest(Duration pause)
{
    std::unique_lock lock{mutex_};
    return wait_until(lock, Clock::now() + pause);
}

void OriginGate::close()
{
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    closing_.notify_all();
}

}  // namespace shoal::seeder
