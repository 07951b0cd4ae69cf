// How many bytes each revision has cost the store and given to the swarm since the process started, over all the times that it was served. Pure; not
// thread-safe.
#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <functional>
#include <map>

namespace shoal::seeder {

struct Moved {
    std::uint64_t from_origin = 0;
    std::uint64_t sent = 0;
};

class Traffic {
public:
    // What has moved since the revision was last added to the swarm; never less than told before. Returns what is new.
    Moved now(const RevisionId& revision, Moved since_added);
    void removed(const RevisionId& revision);                        // from the swarm: counting starts again at 0
    void keep(const std::function<bool(const RevisionId&)>& known);  // forgets the others
    [[nodiscard]] Moved total(const RevisionId& revision) const;

private:
    struct Account {
        Moved before;   // earlier times in the swarm
        Moved current;  // this one
    };
    std::map<RevisionId, Account> accounts_;
};

}  // namespace shoal::seeder
