#include "seeder/exit_deadline.hpp"

#include "common/obs/log.hpp"

#include <cstdlib>

namespace shoal::seeder {

ExitDeadline::ExitDeadline(Duration within, int code)
    : thread_{[this, within, code] {
          std::unique_lock lock{mutex_};
          if (ending_.wait_for(lock, within, [this] { return in_time_; })) return;
          obs::log(obs::Level::warning, "leaving work behind: something does not come to its end");
          std::_Exit(code);
      }}
{}

ExitDeadline::~ExitDeadline()
{
    {
        const std::lock_guard lock{mutex_};
        in_time_ = true;
    }
    ending_.notify_all();
    thread_.join();
}

}  // namespace shoal::seeder
