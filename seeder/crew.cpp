#include "seeder/crew.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace shoal::seeder {
namespace {

constexpr std::chrono::milliseconds tick_period{100};

// What the threads of one run share.
class Shift {
public:
    Shift(std::size_t count, std::size_t threads, std::atomic<bool>& ending, const std::function<void()>& ended)
        : count_{count}, working_{threads}, ending_{ending}, ended_{ended}
    {}

    // A thread's part: one index after the other, until none is left or the run is ending.
    void work_through(const Crew::Work& work)
    {
        std::unique_lock lock{mutex_};
        while (!ending_ && next_ < count_) {
            const std::size_t index = next_++;
            lock.unlock();
            const auto done = work(index);
            lock.lock();
            if (!done) fail(done.error());
        }
        --working_;
        changed_.notify_all();
    }

    // Until all threads have ended; without `tick`'s consent they do so soon. The first failure, if there was any.
    std::optional<Error> oversee(const std::function<bool()>& tick)
    {
        std::unique_lock lock{mutex_};
        while (!changed_.wait_for(lock, tick_period, [this] { return working_ == 0; })) {
            if (!tick()) fail(Crew::given_up());
        }
        return failure_;
    }

private:
    void fail(const Error& error)  // with the mutex
    {
        if (!failure_) failure_ = error;
        if (!ending_.exchange(true) && ended_) ended_();
    }

    std::size_t count_;
    std::size_t working_;
    std::atomic<bool>& ending_;
    const std::function<void()>& ended_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t next_ = 0;
    std::optional<Error> failure_;
};

}  // namespace

Crew::Crew(unsigned threads, std::function<bool()> tick, std::function<void()> ended)
    : threads_{std::max(1U, threads)}, tick_{std::move(tick)}, ended_{std::move(ended)}
{}

Error Crew::given_up()
{
    return {Errc::interrupted, "interrupted", "run it again: what was finished is kept"};
}

Result<void> Crew::run(std::size_t count, const Work& work, unsigned waiting)
{
    const std::size_t hands = std::min<std::size_t>(std::max(threads_, waiting), count);
    Shift shift{count, hands, ending_, ended_};
    std::vector<std::jthread> threads;
    threads.reserve(hands);
    for (std::size_t i = 0; i < hands; ++i) threads.emplace_back([&] { shift.work_through(work); });
    const std::optional<Error> failed = shift.oversee(tick_);
    threads.clear();
    if (ending_) return failure(failed ? *failed : given_up());
    return success();
}

}  // namespace shoal::seeder
