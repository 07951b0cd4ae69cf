// Who has something to hear, whose reply is held, and when it is let go. Pure: time comes in. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal::tracker {

enum class Urgency { ordinary, urgent };

// News goes out a few ms after it came up, so that what happens together is told together. Ordinary news goes to one process so often that all waiting ones
// together cost a bounded number of replies a second (5000); urgent news, without which somebody cannot start, does not wait for that.
class News {
public:
    static constexpr Duration together = std::chrono::milliseconds{5};
    static constexpr Duration per_waiting = std::chrono::microseconds{200};

    void tell(const PeerId& peer, Urgency urgency, TimePoint now);
    void hold(const PeerId& peer, TimePoint until, TimePoint now);  // its reply waits for news, so long at most
    void answered(const PeerId& peer, TimePoint now);               // it has been told all there is
    void forget(const PeerId& peer);

    [[nodiscard]] std::optional<TimePoint> next() const;       // when release() has somebody
    [[nodiscard]] std::vector<PeerId> release(TimePoint now);  // whose held reply is due: those who admit before those who start
    [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

private:
    struct Entry {
        std::optional<Urgency> news;
        std::optional<TimePoint> until;  // a reply is held
        TimePoint told_at{};             // when the news came up
        TimePoint answered{};
        TimePoint due{};
    };
    void schedule(const PeerId& peer, Entry& entry);

    std::unordered_map<PeerId, Entry> entries_;
    std::set<std::pair<TimePoint, PeerId>> queue_;  // of held replies
};

}  // namespace shoal::tracker
