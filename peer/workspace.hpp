// The disk's part of a fetch, from a claim to pieces that are known to be there. Blocking; any thread.
#pragma once

#include "common/core/result.hpp"
#include "peer/claim.hpp"
#include "peer/destination.hpp"
#include "peer/fetch_plan.hpp"
#include "peer/file_storage.hpp"
#include "peer/page_cache.hpp"
#include "peer/revision_data.hpp"
#include "peer/site.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace shoal::peer {

// What a fetch is of and where to; everything that its jobs on disk share. Immutable but for `cancelled`.
struct Errand {
    Site site;
    Ask ask;
    std::shared_ptr<const RevisionData> data;
    std::shared_ptr<Claim> claim;
    std::uint64_t max_bytes = 0;  // 0: no limit
    PageCache page_cache = PageCache::automatic;
    std::shared_ptr<const std::atomic<bool>> cancelled;
};

struct Workspace {
    bool done = false;  // somebody else has done it: nothing below is filled in but `facts`
    DestinationFacts facts;
    Decision decision;
    FetchPlan plan;
    std::shared_ptr<PageCacheWindow> cache;
    std::shared_ptr<FileStorage> storage;
    std::vector<bool> have;          // by piece: verified and readable from storage
    std::uint64_t reused_bytes = 0;  // of wanted files, there before this run

    [[nodiscard]] bool complete() const;  // no needed piece is missing
};

// Looks, decides, checks and makes room, hashes what is there. Fails as decide(), check_space() and the filesystem do.
Result<Workspace> prepare_workspace(const Errand& errand);

// All needed pieces once more, from disk: fails with changed if one is not what it was.
Result<void> check_again(const Errand& errand, const Workspace& workspace);

// The manifest and layers that a record of the revision carries, proven; none if there is no such record, or it is damaged.
std::optional<RevisionData> data_in_records(const DestinationFacts& facts, const RevisionId& revision, const std::string& model);

}  // namespace shoal::peer
