#include "peer/workspace.hpp"

#include "common/core/quantity.hpp"
#include "peer/content_check.hpp"
#include "peer/destination_scan.hpp"
#include "peer/piece_check.hpp"
#include "peer/placement.hpp"
#include "peer/staging.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace shoal::peer {
namespace {

// Wanted files in their place: as recorded, or by their content where no record vouches for them.
Result<std::vector<bool>> find_kept(const Errand& errand, const DestinationFacts& facts, const std::vector<bool>& wanted)
{
    const auto& all = errand.data->manifest.files;
    std::vector<bool> kept(all.size());
    std::vector<bool> unsure(all.size());
    const std::set<std::string> recorded = recorded_paths(facts);
    for (std::size_t i = 0; i < all.size(); ++i) {
        kept[i] = held_as_recorded(errand.ask, facts, all[i].path);
        unsure[i] = (wanted[i] || recorded.contains(all[i].path)) && !kept[i] && facts.present.contains(all[i].path);
    }
    BOOST_OUTCOME_TRY(faults, check_content(errand.site, *errand.data, unsure, *errand.cancelled));
    for (std::size_t i = 0; i < all.size(); ++i) kept[i] = kept[i] || unsure[i];
    for (const Fault& fault : faults) kept[fault.file.value] = false;
    return kept;
}

// What a marker says, but of files whose content was found to be wrong no state: whoever comes after us, should we be broken off, does not believe it.
Marker still_known(Marker marker, const model::Manifest& manifest, const RevisionId& revision, const std::vector<bool>& kept)
{
    if (marker.revision != revision) return marker;
    std::set<std::string_view> good;
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (kept[i]) good.insert(manifest.files[i].path);
    for (MarkedFile& file : marker.files) {
        if (good.contains(file.path)) continue;
        file.mtime_ns = 0;
        file.inode = 0;
    }
    return marker;
}

Result<void> check_room(const Errand& errand, const FetchPlan& plan)
{
    std::uint64_t total = plan.kept_bytes;
    for (const FileIndex file : plan.staged) total += errand.data->manifest.files[file.value].size;
    if (errand.max_bytes != 0 && total > errand.max_bytes)
        return failure(Errc::no_space,
            "revision is larger than --max-bytes: " + errand.ask.model + ": expected at most " + std::to_string(errand.max_bytes) + " bytes, found " +
                std::to_string(total) + " (" + format_size(total) + ")",
            "raise --max-bytes, or choose files by --include");
    BOOST_OUTCOME_TRY(there, free_space(errand.site.work()));
    return check_space(space_needed(errand.site, *errand.data, plan), there, errand.site.directory);
}

Places places_of(const Errand& errand, const FetchPlan& plan)
{
    return [site = errand.site, data = errand.data, kept = plan.kept](FileIndex file) {
        Path final = site.final(data->manifest.files[file.value].path);
        if (kept[file.value]) return FilePlace{std::move(final), {}, false};
        return FilePlace{site.staged(data->revision, file), std::move(final), true};
    };
}

// Files at the destination that are not what the revision wants there, and may yet hold some of its pieces.
Result<void> reuse_pieces(const Errand& errand, Workspace& workspace)
{
    const model::Layout& layout = *errand.data->layout;
    if (workspace.facts.present.empty()) return success();
    const auto& files = errand.data->manifest.files;
    std::vector<bool> source;
    source.reserve(files.size());
    for (const model::File& file : files) source.push_back(workspace.facts.present.contains(file.path));
    std::vector<bool> which(layout.pieces());
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) {
        if (!workspace.plan.needed[piece] || workspace.have[piece]) continue;
        const auto extents = layout.extents(PieceIndex{piece}, 0, layout.place(PieceIndex{piece}).length);
        which[piece] = std::all_of(extents.begin(), extents.end(), [&](const model::Extent& extent) { return source[extent.file.value]; });
    }
    const Places places = [&](FileIndex file) { return FilePlace{errand.site.final(files[file.value].path), {}, false}; };
    FileStorage old{errand.data->layout, places, [] { return Result<void>{success()}; }, workspace.cache};
    const auto copy = [&](PieceIndex piece, ConstBytes bytes) { return workspace.storage->write(piece, 0, bytes); };
    BOOST_OUTCOME_TRY(check, check_pieces(layout, *errand.data->layers, old, which, *errand.cancelled, copy));
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) workspace.have[piece] = workspace.have[piece] || check.good[piece];
    return success();
}

Result<void> find_pieces(const Errand& errand, Workspace& workspace, const std::vector<bool>& written)
{
    const model::Layout& layout = *errand.data->layout;
    BOOST_OUTCOME_TRY(check, check_pieces(layout, *errand.data->layers, *workspace.storage, written, *errand.cancelled));
    workspace.have = std::move(check.good);
    BOOST_OUTCOME_TRY(reuse_pieces(errand, workspace));
    workspace.reused_bytes = workspace.plan.kept_bytes;
    for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) {
        if (workspace.have[piece]) workspace.reused_bytes += wanted_bytes_of(workspace.plan, layout, PieceIndex{piece});
        if (workspace.plan.in_place[piece]) workspace.have[piece] = true;
    }
    return success();
}

}  // namespace

bool Workspace::complete() const
{
    for (std::size_t piece = 0; piece < have.size(); ++piece)
        if (plan.needed[piece] && !have[piece]) return false;
    return true;
}

Result<Workspace> prepare_workspace(const Errand& errand)
{
    const model::Manifest& manifest = errand.data->manifest;
    BOOST_OUTCOME_TRY(facts, look_at(errand.site));
    BOOST_OUTCOME_TRY(decision, decide(errand.ask, facts, &manifest));
    BOOST_OUTCOME_TRY(wanted, wanted_files(manifest, errand.ask.include, errand.ask.exclude));
    Workspace workspace{decision.verdict == Verdict::done, std::move(facts), decision, {}, nullptr, nullptr, {}, 0};
    if (workspace.done) return workspace;
    BOOST_OUTCOME_TRY(kept, find_kept(errand, workspace.facts, wanted));
    workspace.plan = make_plan(manifest, *errand.data->layout, std::move(wanted), std::move(kept));
    BOOST_OUTCOME_TRY(check_room(errand, workspace.plan));
    BOOST_OUTCOME_TRY(errand.claim->renew());
    if (decision.take_marker_away && workspace.facts.marker) {  // a damaged one misleads nobody, and says that this directory is ours
        BOOST_OUTCOME_TRY(take_marker_away(errand.site, still_known(workspace.facts.marker->marker, manifest, errand.data->revision, workspace.plan.kept)));
    }
    settle(errand.site, *errand.data, workspace.plan);
    const std::vector<bool> written = maybe_written(errand.site, *errand.data, workspace.plan);
    BOOST_OUTCOME_TRY(prepare(errand.site, *errand.data, workspace.plan));
    const bool drop = should_drop(errand.page_cache, workspace.plan.wanted_bytes, read_memory_facts());
    workspace.cache = std::make_shared<PageCacheWindow>(drop);
    const auto guard = [claim = errand.claim] { return claim->guard(); };
    workspace.storage = std::make_shared<FileStorage>(errand.data->layout, places_of(errand, workspace.plan), guard, workspace.cache);
    BOOST_OUTCOME_TRY(find_pieces(errand, workspace, written));
    return workspace;
}

Result<void> check_again(const Errand& errand, const Workspace& workspace)
{
    BOOST_OUTCOME_TRY(check, check_pieces(*errand.data->layout, *errand.data->layers, *workspace.storage, workspace.plan.needed, *errand.cancelled));
    if (check.wrong.empty() && check.unreadable.empty()) return success();
    return failure(Errc::changed, "staged data has changed: " + errand.site.work().string() + ": the owner before us still wrote to it");
}

std::optional<RevisionData> data_in_records(const DestinationFacts& facts, const RevisionId& revision, const std::string& model)
{
    for (const auto* record : {&facts.marker, &facts.earlier, &facts.intent}) {
        if (!*record || (*record)->marker.revision != revision) continue;
        auto data = prove_manifest(revision, model, (*record)->marker.manifest, marker_name);
        if (data && prove_layers(data.value(), (*record)->marker.layers, marker_name)) return std::move(data).value();
    }
    return std::nullopt;
}

}  // namespace shoal::peer
