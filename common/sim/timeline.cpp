#include "common/sim/timeline.hpp"

#include <algorithm>

namespace shoal::sim {

void Timeline::add(Event event)
{
    event.order = order_++;
    ++count_;
    const std::int64_t slot = slot_of(event.at);
    if (slot <= open_) {
        due_.push(event);
    } else if (slot - open_ < static_cast<std::int64_t>(slots)) {
        slots_[static_cast<std::size_t>(slot) % slots].push_back(event);
        ++in_slots_;
    } else {
        far_.push(event);
    }
}

Event Timeline::take()
{
    while (due_.empty()) open_next_slot();
    const Event event = due_.top();
    due_.pop();
    --count_;
    return event;
}

void Timeline::open_next_slot()
{
    open_ = in_slots_ > 0 ? open_ + 1 : slot_of(far_.top().at);
    std::vector<Event>& slot = slots_[static_cast<std::size_t>(open_) % slots];
    in_slots_ -= slot.size();
    for (const Event& event : slot) due_.push(event);
    slot.clear();
    for (; !far_.empty() && slot_of(far_.top().at) <= open_; far_.pop()) due_.push(far_.top());
}

}  // namespace shoal::sim
