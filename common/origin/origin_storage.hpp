// A revision's pieces, read from the object store and verified before anybody gets a byte. Blocks: disk threads only, several at once.
#pragma once

#include "common/core/clock.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/origin/origin_gate.hpp"
#include "common/origin/side_by_side.hpp"
#include "common/origin/stretches.hpp"
#include "common/swarm/piece_storage.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::origin {

// What all revisions of a process read through.
struct OriginAccess {
    std::shared_ptr<OriginGate> gate;
    std::shared_ptr<SideBySide> readers;
    std::shared_ptr<AheadRoom> ahead;                       // none: nothing is read ahead
    unsigned tries = 4;                                     // of a read that failed for a time (io, timed_out)
    Duration first_pause = std::chrono::milliseconds{250};  // doubled after each
};

// A revision, and where its bytes are.
struct Origin {
    RevisionId revision;
    std::shared_ptr<const model::Manifest> manifest;
    std::shared_ptr<const model::Layout> layout;
    std::shared_ptr<const model::Layers> layers;
    std::shared_ptr<objectstore::ObjectStore> store;  // holds the blobs, or the files indexed in place
    std::vector<objectstore::SourceFile> sources;     // by FileIndex; empty: blobs
};

class OriginStorage final : public swarm::PieceStorage {
public:
    OriginStorage(Origin origin, OriginAccess access);

    // A whole piece: offset 0, out.size() its length (else internal: a part cannot be verified). One range request a piece at most, or one a file for pieces
    // of a pack indexed in place; pieces of packs come ahead from a remote store. Errors name revision, swarm file, key and bytes:
    // integrity: cut, changed, or not what the digest says (expected and found are told); not_found: the object is gone; else what the store said at the last try.
    Result<void> read(PieceIndex piece, std::uint32_t offset, MutableBytes out) override;
    Result<void> write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes) override;  // not_allowed

    [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }  // verified ones, any thread
    // A piece whose read failed for good: the last of them, any thread.
    [[nodiscard]] std::optional<PieceIndex> bad_piece() const;

private:
    struct Part;
    [[nodiscard]] std::vector<Part> parts_of(PieceIndex piece, MutableBytes out) const;
    Result<void> read_verified(PieceIndex piece, MutableBytes out);
    Result<void> read_run(const PieceRun& run, MutableBytes out);
    static void add_or_extend(std::vector<Part>& parts, Part part);
    Result<void> read_parts(const std::vector<Part>& parts);
    Result<void> read_part(const Part& part);
    [[nodiscard]] bool is_piece(PieceIndex piece, ConstBytes bytes) const;
    [[nodiscard]] Error mismatch(PieceIndex piece, MutableBytes bytes) const;
    [[nodiscard]] Error in_context(PieceIndex piece, const Error& cause) const;
    [[nodiscard]] std::string name_of(PieceIndex piece) const;
    [[nodiscard]] std::string place_of(const std::vector<Part>& parts) const;

    Origin origin_;
    OriginAccess access_;
    std::optional<Stretches> stretches_;  // of a remote store
    std::atomic<std::uint64_t> bytes_read_{0};
    std::atomic<std::int64_t> bad_piece_{-1};
};

}  // namespace shoal::origin
