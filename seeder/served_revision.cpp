#include "seeder/served_revision.hpp"

#include "common/objectstore/catalog.hpp"

#include <cstddef>
#include <vector>

namespace shoal::seeder {

Result<ServedRevision> load_revision(
    const std::shared_ptr<objectstore::ObjectStore>& store, const RevisionId& revision, const OpenSource& open_source, const OriginAccess& access)
{
    BOOST_OUTCOME_TRY(published, objectstore::load_manifest(*store, revision));
    const auto layout = std::make_shared<const model::Layout>(published.manifest);
    BOOST_OUTCOME_TRY(layer_bytes, objectstore::load_layers(*store, revision, *layout));
    BOOST_OUTCOME_TRY(layers, model::decode_layers(layer_bytes, *layout));
    BOOST_OUTCOME_TRY(location, objectstore::load_location(*store, published));
    std::shared_ptr<objectstore::ObjectStore> source = store;
    if (!location.root.empty()) {
        BOOST_OUTCOME_TRY(opened, open_source(location.root));
        source = std::move(opened);
    }
    ServedRevision served;
    served.id = revision;
    served.manifest = std::make_shared<const model::Manifest>(std::move(published.manifest));
    served.layout = layout;
    served.layers = std::make_shared<const model::Layers>(std::move(layers));
    served.storage =
        std::make_shared<OriginStorage>(Origin{revision, served.manifest, layout, served.layers, std::move(source), std::move(location.files)}, access);
    return served;
}

Result<void> prove(const ServedRevision& revision, PieceIndex piece)
{
    std::vector<std::byte> bytes(revision.layout->place(piece).length);
    return revision.storage->read(piece, 0, bytes);
}

}  // namespace shoal::seeder
