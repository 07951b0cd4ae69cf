#include "seeder/wishes.hpp"

#include <algorithm>

namespace shoal::seeder {
namespace {

bool in_swarm(ServeState state)
{
    return state == ServeState::serving || state == ServeState::paused;
}

bool on_the_way(ServeState state)
{
    return state == ServeState::loading;
}

// The store's content is at fault; reading again changes nothing.
bool is_wrong(Errc code)
{
    return code == Errc::integrity || code == Errc::changed || code == Errc::malformed || code == Errc::too_large || code == Errc::not_found;
}

}  // namespace

void Wishes::wished(const RevisionId& revision, const std::string& model, TimePoint now)
{
    if (!all_.contains(revision) && all_.size() >= limits_.known && !forget_oldest(now)) return;
    Served& served = all_[revision];
    served.wished_at = now;
    if (!model.empty()) served.model = model;
}

void Wishes::loaded(const RevisionId& revision)
{
    Served& served = all_[revision];
    served.state = ServeState::serving;
    served.spoiled = served.refused = false;
    served.trouble.clear();
    served.failures = 0;
}

void Wishes::load_failed(const RevisionId& revision, const Error& error, TimePoint now)
{
    Served& served = all_[revision];
    const bool wrong = is_wrong(error.code);
    if (!served.spoiled) served.tell(error);  // what it was withdrawn for says more
    served.refused = wrong || served.spoiled;
    served.state = served.refused ? ServeState::withdrawn : ServeState::waiting;
    served.act_at = now + (error.code == Errc::not_found || served.spoiled ? limits_.missing_retry
                              : wrong                                      ? limits_.last_retry
                                                                           : retry_after(served.failures++));
}

Wishes::Verdict Wishes::storage_failed(const RevisionId& revision, const Error& error, TimePoint now)
{
    Served& served = all_[revision];
    served.tell(error);
    if (is_wrong(error.code)) {
        served.state = ServeState::withdrawn;
        served.spoiled = served.refused = true;
        served.act_at = now + limits_.missing_retry;
        return Verdict::withdraw;
    }
    if (served.state != ServeState::paused) served.act_at = now + retry_after(served.failures++);
    served.state = ServeState::paused;
    return Verdict::pause;
}

std::vector<ServeAction> Wishes::next(TimePoint now)
{
    std::vector<ServeAction> actions;
    for (auto& [revision, served] : all_) settle(revision, served, now, actions);
    std::erase_if(all_, [&](const auto& entry) {
        const Served& served = entry.second;
        return !in_swarm(served.state) && !on_the_way(served.state) && !served.spoiled && now - served.wished_at >= limits_.unwanted;
    });
    load_waiting(now, actions);
    return actions;
}

void Wishes::settle(const RevisionId& revision, Served& served, TimePoint now, std::vector<ServeAction>& actions) const
{
    const bool due = now >= served.act_at;
    if (in_swarm(served.state) && now - served.wished_at >= limits_.unwanted) {
        drop(revision, served, actions);
    } else if (served.state == ServeState::paused && due) {
        actions.push_back({ServeAction::Kind::resume, revision});
        served.state = ServeState::serving;
        served.act_at = now + limits_.quiet;
    } else if (served.state == ServeState::serving && !served.trouble.empty() && due) {
        served.trouble.clear();
        served.failures = 0;
    }
}

void Wishes::load_waiting(TimePoint now, std::vector<ServeAction>& actions)
{
    std::size_t loading = count(on_the_way);
    for (auto& [revision, served] : all_) {
        const bool due = (served.state == ServeState::waiting || served.state == ServeState::withdrawn) && now >= served.act_at;
        if (!due || now - served.wished_at >= limits_.wanted || loading >= limits_.loads) continue;
        if (count(in_swarm) + loading >= limits_.served && !make_room(now, actions)) {
            served.trouble = "this seeder serves as many revisions as it may: " + std::to_string(limits_.served);
            continue;
        }
        served.state = ServeState::loading;
        ++loading;
        actions.push_back({ServeAction::Kind::load, revision});
    }
}

// Those whose bytes were wrong go last: forgotten, they would be served again without a look at what was wrong.
bool Wishes::forget_oldest(TimePoint now)
{
    const auto goes_before = [](const Served& a, const Served& b) { return a.spoiled != b.spoiled ? b.spoiled : a.wished_at < b.wished_at; };
    auto first = all_.end();
    for (auto entry = all_.begin(); entry != all_.end(); ++entry) {
        const Served& served = entry->second;
        if (in_swarm(served.state) || on_the_way(served.state) || now - served.wished_at < limits_.wanted) continue;
        if (first == all_.end() || goes_before(served, first->second)) first = entry;
    }
    if (first == all_.end()) return false;
    all_.erase(first);
    return true;
}

// Drops whom nobody has asked for the longest; not what somebody wants.
bool Wishes::make_room(TimePoint now, std::vector<ServeAction>& actions)
{
    auto oldest = all_.end();
    for (auto entry = all_.begin(); entry != all_.end(); ++entry) {
        const Served& served = entry->second;
        if (!in_swarm(served.state) || now - served.wished_at < limits_.wanted) continue;
        if (oldest == all_.end() || served.wished_at < oldest->second.wished_at) oldest = entry;
    }
    if (oldest == all_.end()) return false;
    drop(oldest->first, oldest->second, actions);
    return true;
}

void Wishes::drop(const RevisionId& revision, Served& served, std::vector<ServeAction>& actions)
{
    actions.push_back({ServeAction::Kind::drop, revision});
    served.state = ServeState::waiting;
    served.trouble.clear();
    served.failures = 0;
    served.act_at = {};
}

Duration Wishes::retry_after(unsigned failures) const
{
    return std::min(limits_.last_retry, limits_.first_retry * (1U << std::min(failures, 16U)));
}

std::size_t Wishes::count(bool (*in)(ServeState)) const
{
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [in](const auto& entry) { return in(entry.second.state); }));
}

}  // namespace shoal::seeder
