// The looks at a destination that a fetch takes before it owns anything there. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "peer/claim.hpp"
#include "peer/destination.hpp"
#include "peer/revision_data.hpp"
#include "peer/site.hpp"

#include <memory>
#include <optional>
#include <string>

namespace shoal::peer {

struct Survey {
    bool done = false;                 // all that was asked for is in place
    std::uint64_t bytes = 0;           // of it, if done
    std::optional<RevisionData> data;  // what some record there knows of the revision
};

// Refuses as decide() does, and when nothing can be written there.
Result<Survey> survey(const Site& site, const Ask& ask);

// One attempt to claim; without success, whether the owner has finished what we wanted.
struct ClaimStep {
    ClaimAttempt attempt;
    Survey seen;
};
Result<ClaimStep> try_claim(Claimer& claimer, const Site& site, const Ask& ask, const RevisionData& data);

// Removes what a run left that was broken off after its marker was in place. Nothing if somebody works there.
void tidy_up_after(const Site& site);

}  // namespace shoal::peer
