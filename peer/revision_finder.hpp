// What a tag names and what a revision is: from the trackers, or from the store itself where none of them answers and it may be read. On the loop.
#pragma once

#include "common/control/client.hpp"
#include "common/core/clock.hpp"
#include "common/net/loop.hpp"
#include "peer/revision_data.hpp"
#include "peer/store_access.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace shoal::peer {

class RevisionFinder {
public:
    // A store that may be asked where no tracker answers within `turn`.
    struct Instead {
        std::shared_ptr<StoreAccess> store;
        net::Workers& readers;
        Duration turn;
    };
    RevisionFinder(net::Loop& loop, control::Client& trackers, std::optional<Instead> instead);
    ~RevisionFinder();  // `done` is not called any more

    // As resolve_tag and get_revision, or what the store says in the trackers' place. A store that fails for a time is asked again, after the trackers.
    void tag(const std::string& model, const std::string& tag, Duration within, std::function<void(Result<RevisionId>)> done);
    void revision(const std::string& model, const RevisionId& revision, Duration within, std::function<void(Result<RevisionData>)> done);
    [[nodiscard]] bool trackers_silent() const { return silent_; }  // none has answered when it was last asked

private:
    template <typename T>
    struct Search;
    template <typename T>
    void ask_trackers(const std::shared_ptr<Search<T>>& search);
    template <typename T>
    void read_store(const std::shared_ptr<Search<T>>& search, const Error& of_trackers);

    net::Loop& loop_;
    control::Client& trackers_;
    std::optional<Instead> instead_;
    bool silent_ = false;
    net::Handle pause_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // what was asked outlives us
};

}  // namespace shoal::peer
