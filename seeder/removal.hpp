// What removing a revision may delete, and whether anybody still needs it. Pure.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/manifest.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::seeder {

// Blobs of a revision that goes, less those of every revision that stays.
class UnsharedBlobs {
public:
    explicit UnsharedBlobs(const model::Manifest& removed);
    void keep(const model::Manifest& other);
    [[nodiscard]] const std::set<Digest>& roots() const { return roots_; }
    [[nodiscard]] bool concerns(const model::Manifest& other) const;  // it needs one of them

private:
    std::set<Digest> roots_;
};

// Of a tracker's answer about a revision: success if no live process wants or fetches it, and nobody leases it; not_allowed naming who does; timed_out if the
// answer is no complete picture, or none at all. `tracker` is for messages. Never throws.
Result<void> judge_answer(std::string_view body, const std::string& tracker, const std::string& revision);

}  // namespace shoal::seeder
