#include "peer/fetch_plan.hpp"

namespace shoal::peer {
namespace {

std::vector<model::Extent> extents_of(const model::Layout& layout, std::uint32_t piece)
{
    return layout.extents(PieceIndex{piece}, 0, layout.place(PieceIndex{piece}).length);
}

}  // namespace

FetchPlan make_plan(const model::Manifest& manifest, const model::Layout& layout, std::vector<bool> wanted, std::vector<bool> kept)
{
    FetchPlan plan{std::move(wanted), std::move(kept), std::vector<bool>(layout.pieces()), std::vector<bool>(layout.pieces(), true), {}, 0, 0};
    std::vector<bool> staged(manifest.files.size());
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) {
        const auto extents = extents_of(layout, piece);
        for (const model::Extent& extent : extents) {
            if (!plan.kept[extent.file.value]) plan.in_place[piece] = false;
            if (plan.wanted[extent.file.value] && !plan.kept[extent.file.value]) plan.needed[piece] = true;
        }
        if (!plan.needed[piece]) continue;
        for (const model::Extent& extent : extents) staged[extent.file.value] = staged[extent.file.value] || !plan.kept[extent.file.value];
    }
    for (std::uint32_t i = 0; i < manifest.files.size(); ++i) {
        const bool empty = plan.wanted[i] && !plan.kept[i] && manifest.files[i].size == 0;
        if (staged[i] || empty) plan.staged.push_back(FileIndex{i});
        if (!plan.wanted[i]) continue;
        plan.wanted_bytes += manifest.files[i].size;
        if (plan.kept[i]) plan.kept_bytes += manifest.files[i].size;
    }
    return plan;
}

std::uint64_t wanted_bytes_of(const FetchPlan& plan, const model::Layout& layout, PieceIndex piece)
{
    std::uint64_t bytes = 0;
    for (const model::Extent& extent : extents_of(layout, piece.value))
        if (plan.wanted[extent.file.value] && !plan.kept[extent.file.value]) bytes += extent.length;
    return bytes;
}

}  // namespace shoal::peer
