#include "peer/content_check.hpp"

#include "common/crypto/sha256.hpp"
#include "peer/file_storage.hpp"
#include "peer/piece_check.hpp"

#include <algorithm>
#include <optional>

namespace shoal::peer {
namespace {

constexpr std::size_t read_size = 1U << 20U;

std::string sha256_text(const Digest& digest)
{
    return "sha256:" + to_hex(digest);
}

Result<Digest> hash_file(const files::File& file, const Path& path, std::uint64_t size, const std::atomic<bool>& cancelled)
{
    crypto::Sha256 hash;
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size, read_size)));
    for (std::uint64_t at = 0; at < size && !cancelled;) {
        const MutableBytes part{buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at))};
        BOOST_OUTCOME_TRY(files::read_exactly(file, path, at, part));
        hash.update(part);
        at += part.size();
    }
    return hash.finish();
}

// A file of the wrong size, or not there, is one fault; nothing of it needs reading.
std::optional<Fault> fault_of_size(const Path& path, const model::File& file, FileIndex index)
{
    const auto state = files::state_of(path);
    if (!state) return Fault{index, 0, file.size, std::to_string(file.size) + " bytes", state.error().message};
    if (state.value().size == file.size) return std::nullopt;
    return Fault{index, 0, std::max(file.size, state.value().size), std::to_string(file.size) + " bytes", std::to_string(state.value().size) + " bytes"};
}

std::optional<Fault> fault_of_small(const Path& path, const model::File& file, FileIndex index, const std::atomic<bool>& cancelled)
{
    const auto opened = files::open_read(path);
    if (!opened) return Fault{index, 0, file.size, sha256_text(file.sha256), opened.error().message};
    const auto found = hash_file(opened.value(), path, file.size, cancelled);
    if (!found) return Fault{index, 0, file.size, sha256_text(file.sha256), found.error().message};
    if (found.value() == file.sha256) return std::nullopt;
    return Fault{index, 0, file.size, sha256_text(file.sha256), sha256_text(found.value())};
}

Fault fault_of_piece(const RevisionData& data, PieceIndex piece, const std::string& found)
{
    const model::PiecePlace place = data.layout->place(piece);
    return {data.layout->files()[place.file.value].files.front(), place.offset, place.length, "piece digest " + to_hex((*data.layers)[piece.value]), found};
}

Result<void> check_pieces_of(
    const RevisionData& data, const std::vector<bool>& pieces, FileStorage& storage, std::vector<Fault>& faults, const std::atomic<bool>& cancelled)
{
    BOOST_OUTCOME_TRY(check, check_pieces(*data.layout, *data.layers, storage, pieces, cancelled));
    for (const auto& [piece, digest] : check.wrong) faults.push_back(fault_of_piece(data, piece, "piece digest " + to_hex(digest)));
    for (const auto& [piece, error] : check.unreadable) faults.push_back(fault_of_piece(data, piece, error.message));
    return success();
}

// By file: the only one of its swarm file, and not an empty one.
std::vector<bool> stands_alone(const RevisionData& data)
{
    std::vector<bool> alone(data.manifest.files.size());
    for (const model::SwarmFile& file : data.layout->files())
        if (file.files.size() == 1) alone[file.files.front().value] = true;
    return alone;
}

}  // namespace

Result<std::vector<Fault>> check_content(const Site& site, const RevisionData& data, const std::vector<bool>& which, const std::atomic<bool>& cancelled)
{
    auto cache = std::make_shared<PageCacheWindow>(true);
    std::vector<Fault> faults;
    std::vector<bool> pieces(data.layout->pieces());
    const std::vector<bool> alone = stands_alone(data);
    for (std::uint32_t i = 0; i < data.manifest.files.size() && !cancelled; ++i) {
        const model::File& file = data.manifest.files[i];
        if (!which[i]) continue;
        const Path path = site.final(file.path);
        auto fault = fault_of_size(path, file, FileIndex{i});
        const auto [first, last] = data.layout->pieces_of(FileIndex{i});
        if (!fault && alone[i]) std::fill(pieces.begin() + first, pieces.begin() + last, true);
        if (!fault && !alone[i]) fault = fault_of_small(path, file, FileIndex{i}, cancelled);
        if (fault) faults.push_back(std::move(*fault));
    }
    if (cancelled) return failure(Errc::interrupted, "checking was interrupted: " + site.directory.string());
    const Places places = [&](FileIndex file) { return FilePlace{site.final(data.manifest.files[file.value].path), {}, false}; };
    FileStorage storage{data.layout, places, [] { return Result<void>{success()}; }, cache};
    BOOST_OUTCOME_TRY(check_pieces_of(data, pieces, storage, faults, cancelled));
    std::stable_sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) { return std::pair{a.file, a.offset} < std::pair{b.file, b.offset}; });
    return faults;
}

}  // namespace shoal::peer
