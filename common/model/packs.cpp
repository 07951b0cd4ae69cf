#include "common/model/manifest.hpp"

#include <algorithm>

namespace shoal::model {

std::uint32_t default_piece_size(std::uint64_t bytes)
{
    constexpr std::uint64_t gib = 1ULL << 30U;
    if (bytes < 2 * gib) return 256U << 10U;
    if (bytes < 16 * gib) return 1U << 20U;
    if (bytes < 64 * gib) return 4U << 20U;
    if (bytes < 128 * gib) return 8U << 20U;
    return 16U << 20U;
}

std::vector<std::vector<FileIndex>> pack_files(const std::vector<std::uint64_t>& sizes, std::uint32_t piece_size)
{
    const auto small = [&](std::uint64_t size) { return size > 0 && size < piece_size; };
    if (static_cast<std::size_t>(std::count_if(sizes.begin(), sizes.end(), small)) <= pack_threshold) return {};
    std::vector<std::vector<FileIndex>> packs;
    std::uint64_t room = 0;  // what the last pack may still take
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!small(sizes[i])) continue;
        if (sizes[i] > room) {
            packs.emplace_back();
            room = max_pack_bytes;
        }
        packs.back().push_back({static_cast<std::uint32_t>(i)});
        room -= sizes[i];
    }
    return packs;
}

}  // namespace shoal::model
