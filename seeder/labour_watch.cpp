#include "seeder/labour_watch.hpp"

#include "seeder/event_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace shoal::seeder {
LabourWatch::LabourWatch(const Stop& stop, Output output, std::chrono::milliseconds interval, unsigned threads, std::uint64_t origin_limit)
    : stop_{stop},
      output_{output},
      gate_{origin_limit},
      crew_{threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency()), [this] { return tick(); }, [this] { gate_.close(); }},
      line_{interval},
      interval_{interval}
{}

void LabourWatch::begin(std::string what, std::uint64_t total)
{
    what_ = std::move(what);
    total_ = total;
    before_ = crew_.counted();
    begun_ = last_event_ = Clock::now();
}

void LabourWatch::finish()
{
    line_.finish();
}

bool LabourWatch::tick()
{
    const TimePoint now = Clock::now();
    if (now - begun_ > std::chrono::seconds{1}) show(now);  // short work needs no progress
    return !stop_.requested();
}

void LabourWatch::show(TimePoint now)
{
    const std::uint64_t bytes = std::min(crew_.counted() - before_, total_);
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds);
    line_.show({what_, bytes, total_, rate, {}}, now);
    if (output_ != Output::json || now - last_event_ < interval_) return;
    last_event_ = now;
    print_event({{"event", "progress"}, {"what", what_}, {"bytes", bytes}, {"total", total_}, {"rate", rate}});
}

}  // namespace shoal::seeder
