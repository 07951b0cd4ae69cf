#include "common/sim/borders.hpp"

#include <algorithm>

namespace shoal::sim {
namespace {

constexpr std::int64_t most_waiting = 4;  // pieces: what connections and queues hold before a border

}  // namespace

Borders::Borders(const Scenario& scenario)
{
    if (scenario.border > 0) passing_ = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(scenario.piece_bytes / scenario.border));
    for (const Host& host : scenario.hosts)
        if (number_of(host.zone) == zones_.size()) zones_.push_back({host.zone, {}, {}});
}

std::size_t Borders::number_of(const std::string& zone) const
{
    const auto found = std::find_if(zones_.begin(), zones_.end(), [&](const Zone& each) { return each.name == zone; });
    return static_cast<std::size_t>(found - zones_.begin());
}

bool Borders::has_room(std::size_t from, std::size_t to, TimePoint now) const
{
    return !narrow() || (has_room(zones_[from].out, now) && has_room(zones_[to].in, now));
}

bool Borders::has_room(const Way& way, TimePoint now) const
{
    return way.free - now < passing_ * (most_waiting - static_cast<std::int64_t>(way.coming));
}

void Borders::sets_out(std::size_t from, std::size_t to)
{
    ++zones_[from].out.coming;
    ++zones_[to].in.coming;
}

TimePoint Borders::reaches(std::size_t from, std::size_t to, TimePoint now)
{
    gives_up(from, to);
    Way& out = zones_[from].out;
    Way& in = zones_[to].in;
    const TimePoint begins = std::max(now, out.free);
    out.free = begins + passing_;
    in.free = std::max(begins, in.free) + passing_;
    return in.free;
}

void Borders::gives_up(std::size_t from, std::size_t to)
{
    --zones_[from].out.coming;
    --zones_[to].in.coming;
}

}  // namespace shoal::sim
