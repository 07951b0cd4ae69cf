// The object store as a fetch reads it itself: what trackers would tell, and pieces. Blocking; workers, several at once.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/origin/origin_gate.hpp"
#include "common/origin/origin_storage.hpp"
#include "peer/revision_data.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace shoal::peer {

class StoreAccess {
public:
    // Nothing is opened before it is asked for. `rate`: bytes/s of pieces, 0: no limit.
    StoreAccess(std::string url, std::uint64_t rate);

    // As the catalog's load_tag; as prove_manifest and prove_layers.
    Result<RevisionId> tag(const std::string& model, const std::string& tag);
    Result<RevisionData> revision(const std::string& model, const RevisionId& revision);
    // All of the piece, verified; as OriginStorage::read.
    Result<std::vector<char>> piece(const RevisionData& data, PieceIndex piece);
    void close();  // ends what waits, and what comes later

    [[nodiscard]] const std::string& url() const { return url_; }

private:
    Result<std::shared_ptr<objectstore::ObjectStore>> open(const std::string& url) const;
    Result<std::shared_ptr<objectstore::ObjectStore>> store();
    Result<std::shared_ptr<origin::OriginStorage>> pieces_of(const RevisionData& data);

    std::string url_;
    std::shared_ptr<origin::OriginGate> gate_;
    std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);
    std::mutex mutex_;  // held while something is opened: who comes second needs the same
    std::shared_ptr<objectstore::ObjectStore> store_;
    std::shared_ptr<origin::OriginStorage> pieces_;
};

}  // namespace shoal::peer
