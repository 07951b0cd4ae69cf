#include "common/origin/origin_storage.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/keys.hpp"

#include <algorithm>
#include <mutex>

namespace shoal::origin {
namespace {

// A read this slow waits for a disk or a network, and others can wait beside it; a faster one is done before anybody wakes up.
constexpr Duration slow_read = std::chrono::microseconds{250};

std::string range_text(std::uint64_t offset, std::size_t size)
{
    return "bytes " + std::to_string(offset) + "-" + std::to_string(offset + size - 1);
}

constexpr const char* restore_hint =
    "restore the object, or delete it and publish the model anew: it is served again some seconds later; `shoal-seeder verify` reads all of a revision";

}  // namespace

// One range of one object, and where in the piece it belongs.
struct OriginStorage::Part {
    FileIndex file;
    std::string key;
    std::uint64_t offset = 0;
    MutableBytes out;
    const objectstore::SourceFile* source = nullptr;  // none: a blob
};

// Ranges that follow each other in one object, and in memory, are one request.
void OriginStorage::add_or_extend(std::vector<Part>& parts, Part part)
{
    if (!parts.empty() && parts.back().key == part.key && parts.back().offset + parts.back().out.size() == part.offset)
        parts.back().out = {parts.back().out.data(), parts.back().out.size() + part.out.size()};
    else
        parts.push_back(std::move(part));
}

OriginStorage::OriginStorage(Origin origin, OriginAccess access) : origin_{std::move(origin)}, access_{std::move(access)}
{
    if (access_.ahead && objectstore::is_remote(*origin_.store))
        stretches_.emplace(origin_.layout, access_.ahead, [this](const PieceRun& run, MutableBytes out) { return read_run(run, out); });
}

Result<void> OriginStorage::read(PieceIndex piece, std::uint32_t offset, MutableBytes out)
{
    if (offset != 0 || out.size() != origin_.layout->place(piece).length)
        return failure(Errc::internal, "reading a part of " + name_of(piece) + ": only a whole piece can be verified");
    if (stretches_ && access_.gate->lets_at_once(stretch_bytes) && stretches_->take(piece, out, Clock::now())) return success();
    Duration pause = access_.first_pause;
    for (unsigned tries = 1;; ++tries, pause *= 2) {
        Result<void> read = read_verified(piece, out);
        if (read) return read;
        if (!may_pass(read.error().code) || tries >= access_.tries || !access_.gate->rest(pause)) {
            bad_piece_ = piece.value;
            return read;
        }
    }
}

std::optional<PieceIndex> OriginStorage::bad_piece() const
{
    const std::int64_t piece = bad_piece_;
    return piece < 0 ? std::nullopt : std::optional{PieceIndex{static_cast<std::uint32_t>(piece)}};
}

Result<void> OriginStorage::write(PieceIndex piece, std::uint32_t /*offset*/, ConstBytes /*bytes*/)
{
    return failure(Errc::not_allowed, "writing " + name_of(piece) + ": the object store is only read here");
}

// Bytes that differ are read once more: what a wire garbled is right then, what the store garbled is wrong again.
Result<void> OriginStorage::read_verified(PieceIndex piece, MutableBytes out)
{
    const std::vector<Part> parts = parts_of(piece, out);
    for (int look = 0; look < 2; ++look) {
        if (Result<void> read = read_parts(parts); !read) return failure(in_context(piece, read.error()));
        if (is_piece(piece, out)) {
            bytes_read_ += out.size();
            return success();
        }
    }
    return failure(mismatch(piece, out));
}

// What is wrong with it is told by whoever reads its pieces alone then.
Result<void> OriginStorage::read_run(const PieceRun& run, MutableBytes out)
{
    std::vector<Part> parts;
    std::vector<MutableBytes> pieces;
    for (std::uint32_t i = 0; i < run.count; ++i) {
        const PieceIndex piece{run.first.value + i};
        pieces.push_back(out.subspan(std::size_t{i} * origin_.layout->piece_size(), origin_.layout->place(piece).length));
        for (Part& part : parts_of(piece, pieces.back())) add_or_extend(parts, std::move(part));
    }
    BOOST_OUTCOME_TRY(read_parts(parts));
    for (std::uint32_t i = 0; i < run.count; ++i)
        if (!is_piece({run.first.value + i}, pieces[i])) return failure(Errc::integrity, name_of({run.first.value + i}));
    bytes_read_ += out.size();
    return success();
}

std::vector<OriginStorage::Part> OriginStorage::parts_of(PieceIndex piece, MutableBytes out) const
{
    const model::PiecePlace place = origin_.layout->place(piece);
    const model::SwarmFile& swarm_file = origin_.layout->files()[place.file.value];
    if (origin_.sources.empty()) return {Part{swarm_file.files.front(), objectstore::blob_key(swarm_file.pieces_root), place.offset, out}};
    std::vector<Part> parts;
    std::size_t done = 0;
    for (const model::Extent& extent : origin_.layout->extents(piece, 0, place.length)) {
        const objectstore::SourceFile& source = origin_.sources[extent.file.value];
        parts.push_back({extent.file, source.key, extent.offset, out.subspan(done, extent.length), &source});
        done += extent.length;
    }
    return parts;
}

Result<void> OriginStorage::read_parts(const std::vector<Part>& parts)
{
    std::size_t done = 0;
    for (bool slow = false; done < parts.size() && !slow; ++done) {
        const TimePoint before = Clock::now();
        BOOST_OUTCOME_TRY(read_part(parts[done]));
        slow = Clock::now() - before > slow_read;
    }
    if (done == parts.size()) return success();
    std::mutex mutex;
    Result<void> first_failure = success();
    access_.readers->run(parts.size() - done, [&](std::size_t i) {
        Result<void> read = read_part(parts[done + i]);
        const std::lock_guard lock{mutex};
        if (!read && first_failure) first_failure = std::move(read);
    });
    return first_failure;
}

Result<void> OriginStorage::read_part(const Part& part)
{
    const std::optional<objectstore::Version> expected = part.source != nullptr ? std::optional{part.source->version} : std::nullopt;
    const Result<void> read = origin_.store->get_range(part.key, part.offset, part.out, expected);
    if (read) return success();
    return failure(read.error().code, range_text(part.offset, part.out.size()) + ": " + read.error().message, read.error().hint);
}

bool OriginStorage::is_piece(PieceIndex piece, ConstBytes bytes) const
{
    const model::SwarmFile& file = origin_.layout->files()[origin_.layout->place(piece).file.value];
    const std::size_t width = crypto::tree_width(file.size, origin_.layout->piece_size());
    return crypto::piece_digest(bytes, width) == (*origin_.layers)[piece.value];
}

// Which file of a pack is wrong is told where the piece holds all of it: its own root tells.
Error OriginStorage::mismatch(PieceIndex piece, MutableBytes bytes) const
{
    const std::vector<Part> parts = parts_of(piece, bytes);
    const model::SwarmFile& swarm_file = origin_.layout->files()[origin_.layout->place(piece).file.value];
    const std::uint32_t piece_size = origin_.layout->piece_size();
    for (const Part& part : parts) {
        const model::File& file = origin_.manifest->files[part.file.value];
        if (part.source == nullptr || parts.size() == 1 || file.size != part.out.size()) continue;
        const Digest found = crypto::piece_digest(part.out, crypto::tree_width(file.size, piece_size));
        if (found == file.pieces_root) continue;
        return {Errc::integrity, name_of(piece) + ": " + place_of({part}) + ": expected digest " + to_hex(file.pieces_root) + ", found " + to_hex(found),
            restore_hint};
    }
    const Digest found = crypto::piece_digest(bytes, crypto::tree_width(swarm_file.size, piece_size));
    return {Errc::integrity,
        name_of(piece) + ": " + place_of(parts) + ": expected digest " + to_hex((*origin_.layers)[piece.value]) + ", found " + to_hex(found), restore_hint};
}

Error OriginStorage::in_context(PieceIndex piece, const Error& cause) const
{
    const bool wrong = cause.code == Errc::integrity || cause.code == Errc::changed;
    return {wrong ? Errc::integrity : cause.code, name_of(piece) + ": " + cause.message, wrong && cause.hint.empty() ? restore_hint : cause.hint};
}

std::string OriginStorage::name_of(PieceIndex piece) const
{
    const model::SwarmFile& file = origin_.layout->files()[origin_.layout->place(piece).file.value];
    return "piece " + std::to_string(piece.value - file.first_piece) + " of " + model::printable(file.path) + " of " + origin_.manifest->model + "@" +
           to_string(origin_.revision);
}

std::string OriginStorage::place_of(const std::vector<Part>& parts) const
{
    const Part& first = parts.front();
    std::string place = origin_.store->url() + " key '" + model::printable(first.key) + "' " + range_text(first.offset, first.out.size());
    if (parts.size() > 1) place += " and " + std::to_string(parts.size() - 1) + " more keys up to '" + model::printable(parts.back().key) + "'";
    return place;
}

}  // namespace shoal::origin
