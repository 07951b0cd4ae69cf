// What the disk backends know of a torrent, and whom they tell. Network thread, but for the storage, which the disk threads call.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/swarm/piece_storage.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::swarm {

struct DiskContent {
    RevisionId revision;
    std::shared_ptr<const model::Layout> layout;
    std::shared_ptr<const model::Layers> layers;
    std::shared_ptr<PieceStorage> storage;
    std::vector<bool> have;  // by piece
};

class DiskSink {
public:
    DiskSink() = default;
    DiskSink(const DiskSink&) = delete;
    DiskSink& operator=(const DiskSink&) = delete;
    virtual ~DiskSink() = default;

    // The torrent that was added with this save path; libtorrent asks for no other.
    virtual std::shared_ptr<const DiskContent> content(const std::string& save_path) = 0;
    // Once until the torrent is resumed.
    virtual void storage_failed(const RevisionId& revision, const Error& error) = 0;
    // libtorrent wrote a block, in the call in which its peer connection received it. Not called for a block that is here already.
    virtual void block_taken(const RevisionId& revision, PieceIndex piece, std::uint32_t block) = 0;
    // All blocks of a piece are here, and its digest is right or not: the leaves, one a block, are what was received.
    virtual void piece_judged(const RevisionId& revision, PieceIndex piece, bool right, std::span<const Digest> leaves) = 0;
    // The blocks of a wrong piece have been given back: they may be asked for again.
    virtual void piece_reopened(const RevisionId& revision) = 0;
    // Between these two libtorrent takes a piece without hashing it again.
    virtual void begin_trust() = 0;
    virtual void end_trust() = 0;
};

}  // namespace shoal::swarm
