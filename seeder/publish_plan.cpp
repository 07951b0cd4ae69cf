#include "seeder/publish_plan.hpp"

#include <algorithm>
#include <set>

namespace shoal::seeder {
namespace {

bool same(const objectstore::Location& a, const objectstore::Location& b)
{
    return a.root == b.root && std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
                                   [](const auto& x, const auto& y) { return x.key == y.key && x.version == y.version; });
}

void plan_blobs(const model::Layout& layout, const StoreFacts& facts, PublishPlan& plan)
{
    std::set<Digest> planned;  // equal files are one blob
    for (std::uint32_t i = 0; i < layout.files().size(); ++i) {
        const std::uint64_t size = layout.files()[i].size;
        if (facts.blobs[i] == size || !planned.insert(layout.files()[i].pieces_root).second) continue;
        plan.upload.push_back({i});
        plan.upload_bytes += size;
        if (facts.blobs[i]) plan.replace.push_back({i});
    }
}

bool whole_in_store(const model::Layout& layout, const StoreFacts& facts)
{
    if (!facts.location || !facts.location->root.empty()) return false;
    for (std::size_t i = 0; i < layout.files().size(); ++i)
        if (facts.blobs[i] != layout.files()[i].size) return false;
    return true;
}

}  // namespace

bool PublishPlan::lacks_anything() const
{
    return !upload.empty() || layers || manifest || record;
}

bool PublishPlan::writes_nothing() const
{
    return upload.empty() && !location && !layers && !manifest && !record && tags.empty();
}

PublishPlan plan_publish(const model::Layout& layout, Placement placement, const objectstore::Location& source, const StoreFacts& facts)
{
    PublishPlan plan;
    const bool stays = whole_in_store(layout, facts);
    if (placement == Placement::copy) plan_blobs(layout, facts, plan);
    const objectstore::Location wanted = placement == Placement::copy || stays ? objectstore::Location{} : source;
    if (!facts.location || !same(*facts.location, wanted)) plan.location = wanted;
    plan.layers = facts.layers != Found::same;
    plan.manifest = facts.manifest != Found::same;
    plan.record = facts.record != Found::same;
    for (std::size_t i = 0; i < facts.tags.size(); ++i)
        if (facts.tags[i] != Found::same) plan.tags.push_back(i);
    return plan;
}

}  // namespace shoal::seeder
