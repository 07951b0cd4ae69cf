#include "common/model/layout.hpp"

#include <algorithm>
#include <cstdio>

namespace shoal::model {
namespace {

// BEP 52's file tree is sorted level by level, so "/" comes before every other byte: "a/b" before "a-b". NUL is in no path.
bool before_in_tree(const SwarmFile& left, const SwarmFile& right)
{
    const auto order = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)); };
    return std::lexicographical_compare(
        left.path.begin(), left.path.end(), right.path.begin(), right.path.end(), [&](char a, char b) { return order(a) < order(b); });
}

std::string pack_path(std::size_t index)
{
    std::string digits = std::to_string(index);
    digits.insert(0, 5 - std::min<std::size_t>(5, digits.size()), '0');
    return ".shoal/pack-" + digits;
}

std::vector<SwarmFile> swarm_files(const Manifest& manifest)
{
    std::vector<bool> packed(manifest.files.size());
    std::vector<SwarmFile> swarm;
    for (const Pack& pack : manifest.packs) {
        swarm.push_back({pack_path(swarm.size()), pack.size, pack.pieces_root, 0, 0, pack.files});
        for (const FileIndex file : pack.files) packed[file.value] = true;
    }
    for (std::size_t i = 0; i < manifest.files.size(); ++i) {
        const File& file = manifest.files[i];
        if (file.size > 0 && !packed[i]) swarm.push_back({file.path, file.size, file.pieces_root, 0, 0, {{static_cast<std::uint32_t>(i)}}});
    }
    std::sort(swarm.begin(), swarm.end(), before_in_tree);
    return swarm;
}

}  // namespace

Layout::Layout(const Manifest& manifest)
    : piece_size_(manifest.piece_size), bytes_(manifest.bytes()), files_(swarm_files(manifest)), homes_(manifest.files.size())
{
    for (std::size_t i = 0; i < files_.size(); ++i) {
        SwarmFile& swarm_file = files_[i];
        swarm_file.first_piece = pieces_;
        swarm_file.pieces = static_cast<std::uint32_t>((swarm_file.size + piece_size_ - 1) / piece_size_);
        pieces_ += swarm_file.pieces;
        std::uint64_t offset = 0;
        for (const FileIndex file : swarm_file.files) {
            const std::uint64_t size = manifest.files[file.value].size;
            homes_[file.value] = {{static_cast<std::uint32_t>(i)}, offset, size};
            offset += size;
        }
    }
}

PiecePlace Layout::place(PieceIndex piece) const
{
    const auto after =
        std::upper_bound(files_.begin(), files_.end(), piece.value, [](std::uint32_t wanted, const SwarmFile& file) { return wanted < file.first_piece; });
    const SwarmFile& file = *std::prev(after);
    const std::uint64_t offset = std::uint64_t{piece.value - file.first_piece} * piece_size_;
    const auto index = static_cast<std::uint32_t>(std::prev(after) - files_.begin());
    return {{index}, offset, static_cast<std::uint32_t>(std::min<std::uint64_t>(piece_size_, file.size - offset))};
}

std::vector<Extent> Layout::extents(PieceIndex piece, std::uint32_t offset, std::uint32_t length) const
{
    const PiecePlace where = place(piece);
    const std::vector<FileIndex>& files = files_[where.file.value].files;
    std::uint64_t at = where.offset + offset;
    auto file =
        std::prev(std::upper_bound(files.begin(), files.end(), at, [&](std::uint64_t wanted, FileIndex index) { return wanted < homes_[index.value].offset; }));
    std::vector<Extent> extents;
    for (std::uint64_t rest = length; rest > 0; ++file) {
        const Home& home = homes_[file->value];
        const std::uint64_t inside = at - home.offset;
        const std::uint64_t taken = std::min(rest, home.size - inside);
        extents.push_back({*file, inside, taken});
        at += taken;
        rest -= taken;
    }
    return extents;
}

std::pair<std::uint32_t, std::uint32_t> Layout::pieces_of(FileIndex file) const
{
    const Home& home = homes_[file.value];
    if (home.size == 0) return {0, 0};
    const std::uint32_t first = files_[home.swarm_file.value].first_piece;
    const std::uint64_t last_byte = home.offset + home.size - 1;
    return {first + static_cast<std::uint32_t>(home.offset / piece_size_), first + static_cast<std::uint32_t>(last_byte / piece_size_) + 1};
}

}  // namespace shoal::model
