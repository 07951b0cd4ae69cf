// Which revisions a seeder serves, and what to do next about each. Pure; not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/error.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shoal::seeder {

enum class ServeState : std::uint8_t {
    waiting,    // for its turn to be loaded
    loading,    // manifest, layers and location are being read
    serving,    // in the swarm
    paused,     // in the swarm, but the store fails for a time; `trouble` says why
    withdrawn,  // the store lacks it, or holds other bytes; `trouble` says which
};

struct ServeLimits {
    std::size_t served = 512;                        // in the swarm or on the way there
    std::size_t known = 2048;                        // all; further wishes are not heard (what fits into one beat)
    std::size_t loads = 8;                           // at once
    Duration unwanted = std::chrono::minutes{10};    // after the last wish it is dropped
    Duration wanted = std::chrono::seconds{30};      // after the last wish it still counts as wanted by somebody
    Duration first_retry = std::chrono::seconds{1};  // doubled after each failure
    Duration last_retry = std::chrono::seconds{60};
    Duration missing_retry = std::chrono::seconds{10};  // of what the store lacks, or holds wrong
    Duration quiet = std::chrono::seconds{30};          // without a failure, and what was paused counts as well
};

struct Served {
    std::string model;  // as the wish named it
    ServeState state = ServeState::waiting;
    std::string trouble;
    bool missing = false;  // the trouble is that something is gone
    bool refused = false;  // told to be withdrawn, also while the store is looked at again
    bool spoiled = false;  // withdrawn for its bytes: not forgotten before they are right
    unsigned failures = 0;
    void tell(const Error& error)
    {
        trouble = error.text();
        missing = error.code == Errc::not_found;
    }
    TimePoint wished_at{};
    TimePoint act_at{};  // waiting: not loaded before; paused: resumed then; withdrawn: looked at again then; serving: trouble is over then
};

struct ServeAction {
    enum class Kind : std::uint8_t { load, resume, drop } kind{};
    RevisionId revision;
    bool operator==(const ServeAction&) const = default;
};

class Wishes {
public:
    explicit Wishes(ServeLimits limits = {}) : limits_{limits} {}

    // A tracker says that somebody wants it, or that somebody is still fetching it.
    void wished(const RevisionId& revision, const std::string& model, TimePoint now);

    // The ends of an action `load`. Of a spoiled revision it includes a look at what was wrong. One in the swarm fails so too where the store lacks it by now.
    void loaded(const RevisionId& revision);
    void load_failed(const RevisionId& revision, const Error& error, TimePoint now);

    // A read failed in the swarm. `withdraw`: out of the swarm with it; `pause`: there will be a `resume`.
    enum class Verdict : std::uint8_t { pause, withdraw };
    [[nodiscard]] Verdict storage_failed(const RevisionId& revision, const Error& error, TimePoint now);

    // What to do now; each action is told once. Call it after every call above and every second or so.
    [[nodiscard]] std::vector<ServeAction> next(TimePoint now);

    [[nodiscard]] const std::map<RevisionId, Served>& all() const { return all_; }

private:
    void settle(const RevisionId& revision, Served& served, TimePoint now, std::vector<ServeAction>& actions) const;
    void load_waiting(TimePoint now, std::vector<ServeAction>& actions);
    bool forget_oldest(TimePoint now);
    static void drop(const RevisionId& revision, Served& served, std::vector<ServeAction>& actions);
    bool make_room(TimePoint now, std::vector<ServeAction>& actions);
    [[nodiscard]] Duration retry_after(unsigned failures) const;
    [[nodiscard]] std::size_t count(bool (*in)(ServeState)) const;

    ServeLimits limits_;
    std::map<RevisionId, Served> all_;
};

}  // namespace shoal::seeder
