// A fetch's own reads of the object store while the swarm gives it nothing: OriginFallback decides, workers read, the swarm's session takes the pieces. On
// the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/random.hpp"
#include "common/net/loop.hpp"
#include "peer/origin_fallback.hpp"
#include "peer/revision_data.hpp"
#include "peer/store_access.hpp"
#include "peer/transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::peer {

inline constexpr unsigned most_origin_reads = 8;  // at once, by one fetch: enough for a store that answers after 50 ms, and no crowd where there are many

class OriginReads {
public:
    struct Means {
        std::shared_ptr<StoreAccess> store;
        net::Workers& readers;
        Transfer& transfer;
    };
    OriginReads(Means means, std::shared_ptr<const RevisionData> data, OriginFallback decisions);
    ~OriginReads();  // what is being read is dropped

    enum class Room { none, there };
    void tick(TimePoint now, Room room);  // looks at the swarm; a few times a second. Without room on the disk nothing more is read
    void on_piece(PieceIndex piece);      // it is here, from wherever
    void on_refused(PieceIndex piece);
    void end(const std::string& why);  // for good

    // The store lacks something of the revision, or holds something else: it has ended.
    [[nodiscard]] const std::optional<Error>& given_up() const { return given_up_; }
    [[nodiscard]] const std::string& trouble() const { return trouble_; }  // why it waits; empty: it does not

private:
    void pump();
    std::optional<PieceIndex> next(TimePoint now);
    void refill(TimePoint now);
    void start(PieceIndex piece);
    void was_read(PieceIndex piece, Result<std::vector<char>> bytes);
    void failed(const Error& error);
    void tell_ended(const std::string& why);
    void forget(PieceIndex piece);

    Means means_;
    std::shared_ptr<const RevisionData> data_;
    OriginFallback decisions_;
    Random random_;
    bool ended_ = false;
    Room room_ = Room::there;
    std::optional<Error> given_up_;
    std::string trouble_;
    Duration pause_{};  // the next one after a failure that may pass
    TimePoint paused_until_{};
    std::map<std::uint32_t, std::uint64_t> under_way_;  // pieces that are read, or given and not verified yet: bytes
    std::uint64_t bytes_under_way_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::vector<PieceIndex> chosen_;  // last one first
    TimePoint chosen_at_{};
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // reads outlive us
};

}  // namespace shoal::peer
