#include "tracker/news.hpp"

#include <algorithm>

namespace shoal::tracker {

void News::tell(const PeerId& peer, Urgency urgency, TimePoint now)
{
    Entry& entry = entries_[peer];
    if (!entry.news) entry.told_at = now;
    if (entry.news == urgency || entry.news == Urgency::urgent) return;
    entry.news = urgency;
    if (entry.until) schedule(peer, entry);
}

void News::hold(const PeerId& peer, TimePoint until, TimePoint now)
{
    Entry& entry = entries_[peer];
    if (entry.news) entry.told_at = std::min(entry.told_at, now);
    if (entry.until) queue_.erase({entry.due, peer});
    entry.until = until;
    entry.due = until;
    queue_.insert({until, peer});
    if (entry.news) schedule(peer, entry);
}

// Moves a held reply to when its news may go out.
void News::schedule(const PeerId& peer, Entry& entry)
{
    const TimePoint soon = entry.told_at + together;
    const TimePoint paced = entry.answered + per_waiting * static_cast<Duration::rep>(queue_.size());
    const TimePoint due = std::min(*entry.until, entry.news == Urgency::urgent ? soon : std::max(soon, paced));
    if (due == entry.due) return;
    queue_.erase({entry.due, peer});
    entry.due = due;
    queue_.insert({due, peer});
}

void News::answered(const PeerId& peer, TimePoint now)
{
    Entry& entry = entries_[peer];
    if (entry.until) queue_.erase({entry.due, peer});
    entry = {};
    entry.answered = now;
}

void News::forget(const PeerId& peer)
{
    const auto known = entries_.find(peer);
    if (known == entries_.end()) return;
    if (known->second.until) queue_.erase({known->second.due, peer});
    entries_.erase(known);
}

std::optional<TimePoint> News::next() const
{
    return queue_.empty() ? std::nullopt : std::optional{queue_.begin()->first};
}

std::vector<PeerId> News::release(TimePoint now)
{
    std::vector<PeerId> due;
    while (!queue_.empty() && queue_.begin()->first <= now) {
        const PeerId peer = queue_.begin()->second;
        queue_.erase(queue_.begin());
        entries_[peer].until.reset();
        due.push_back(peer);
    }
    std::stable_partition(due.begin(), due.end(), [this](const PeerId& peer) { return entries_[peer].news != Urgency::urgent; });
    return due;
}

}  // namespace shoal::tracker
