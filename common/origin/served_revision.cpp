#include "common/origin/served_revision.hpp"

#include "common/objectstore/catalog.hpp"

#include <cstddef>
#include <vector>

namespace shoal::origin {

Result<Located> locate(const std::shared_ptr<objectstore::ObjectStore>& store, const objectstore::PublishedRevision& published, const OpenSource& open_source)
{
    BOOST_OUTCOME_TRY(location, objectstore::load_location(*store, published));
    if (location.root.empty()) return Located{store, {}};
    BOOST_OUTCOME_TRY(source, open_source(location.root));
    return Located{std::move(source), std::move(location.files)};
}

Result<ServedRevision> load_revision(
    const std::shared_ptr<objectstore::ObjectStore>& store, const RevisionId& revision, const OpenSource& open_source, const OriginAccess& access)
{
    BOOST_OUTCOME_TRY(published, objectstore::load_manifest(*store, revision));
    const auto layout = std::make_shared<const model::Layout>(published.manifest);
    BOOST_OUTCOME_TRY(layer_bytes, objectstore::load_layers(*store, revision, *layout));
    BOOST_OUTCOME_TRY(layers, model::decode_layers(layer_bytes, *layout));
    BOOST_OUTCOME_TRY(located, locate(store, published, open_source));
    ServedRevision served;
    served.id = revision;
    served.manifest = std::make_shared<const model::Manifest>(std::move(published.manifest));
    served.layout = layout;
    served.layers = std::make_shared<const model::Layers>(std::move(layers));
    served.storage =
        std::make_shared<OriginStorage>(Origin{revision, served.manifest, layout, served.layers, std::move(located.store), std::move(located.files)}, access);
    return served;
}

Result<void> prove(const ServedRevision& revision, PieceIndex piece)
{
    std::vector<std::byte> bytes(revision.layout->place(piece).length);
    return revision.storage->read(piece, 0, bytes);
}

}  // namespace shoal::origin
