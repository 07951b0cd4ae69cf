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
struct Shift {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t next = 0;
    std::size_t working = 0;
    std::optional<Error> failure;
};

}  // namespace

Crew::Crew(unsigned threads, std::function<bool()> tick, std::function<void()> ended)
    : threads_{std::max(1U, threads)}, tick_{std::move(tick)}, ended_{std::move(ended)}
{}

Error Crew::given_up()
{
    return {Errc::interrupted, "interrupted", "run it again: what was finished is kept"};
}

Result<void> Crew::run(std::size_t count, const Work& work)
{
    Shift shift;
    const auto fail = [&](const Error& error) {  // with the mutex
        if (!shift.failure) shift.failure = error;
        if (!ending_.exchange(true) && ended_) ended_();
    };
    const auto labour = [&] {
        std::unique_lock lock{shift.mutex};
        while (!ending_ && shift.next < count) {
            const std::size_t index = shift.next++;
            lock.unlock();
            const auto done = work(index);
            lock.lock();
            if (!done) fail(done.error());
        }
        --shift.working;
        shift.changed.notify_all();
    };
    std::vector<std::jthread> threads;
    shift.working = std::min<std::size_t>(threads_, count);
    for (std::size_t i = shift.working; i > 0; --i) threads.emplace_back(labour);
    std::unique_lock lock{shift.mutex};
    while (!shift.changed.wait_for(lock, tick_period, [&] { return shift.working == 0; })) {
        if (!tick_()) fail(given_up());
    }
    lock.unlock();
    threads.clear();
    if (ending_) return failure(shift.failure ? *shift.failure : given_up());
    return success();
}

}  // namespace shoal::seeder
