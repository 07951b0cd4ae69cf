#include "seeder/traffic.hpp"

#include <algorithm>

namespace shoal::seeder {

Moved Traffic::now(const RevisionId& revision, Moved since_added)
{
    Moved& current = accounts_[revision].current;
    const Moved fresh{
        since_added.from_origin - std::min(since_added.from_origin, current.from_origin), since_added.sent - std::min(since_added.sent, current.sent)};
    current.from_origin += fresh.from_origin;
    current.sent += fresh.sent;
    return fresh;
}

void Traffic::removed(const RevisionId& revision)
{
    const auto account = accounts_.find(revision);
    if (account != accounts_.end()) account->second = {total(revision), {}};
}

void Traffic::keep(const std::function<bool(const RevisionId&)>& known)
{
    std::erase_if(accounts_, [&](const auto& account) { return !known(account.first); });
}

Moved Traffic::total(const RevisionId& revision) const
{
    const auto account = accounts_.find(revision);
    if (account == accounts_.end()) return {};
    const auto& [before, current] = account->second;
    return {before.from_origin + current.from_origin, before.sent + current.sent};
}

}  // namespace shoal::seeder
