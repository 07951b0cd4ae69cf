#include "peer/store_access.hpp"

#include "common/objectstore/catalog.hpp"
#include "common/origin/served_revision.hpp"

#include <utility>

namespace shoal::peer {
namespace {

constexpr unsigned readers = 4;  // beside those who ask, for the many small files of a piece

}  // namespace

StoreAccess::StoreAccess(std::string url, std::uint64_t rate) : url_{std::move(url)}, gate_{std::make_shared<origin::OriginGate>(rate)} {}

void StoreAccess::close()
{
    *closed_ = true;
    gate_->close();
}

Result<std::shared_ptr<objectstore::ObjectStore>> StoreAccess::open(const std::string& url) const
{
    BOOST_OUTCOME_TRY(opened, objectstore::open_store(url, [closed = closed_] { return !*closed; }));
    return std::shared_ptr<objectstore::ObjectStore>{std::move(opened)};
}

Result<std::shared_ptr<objectstore::ObjectStore>> StoreAccess::store()
{
    const std::lock_guard lock{mutex_};
    if (!store_) {
        BOOST_OUTCOME_TRY(opened, open(url_));
        store_ = std::move(opened);
    }
    return store_;
}

Result<RevisionId> StoreAccess::tag(const std::string& model, const std::string& tag)
{
    BOOST_OUTCOME_TRY(from, store());
    return objectstore::load_tag(*from, model, tag);
}

Result<RevisionData> StoreAccess::revision(const std::string& model, const RevisionId& revision)
{
    BOOST_OUTCOME_TRY(from, store());
    BOOST_OUTCOME_TRY(published, objectstore::load_manifest(*from, revision));
    BOOST_OUTCOME_TRY(data, prove_manifest(revision, model, std::move(published.manifest_bytes), from->url()));
    BOOST_OUTCOME_TRY(layers, objectstore::load_layers(*from, revision, *data.layout));
    BOOST_OUTCOME_TRYV(prove_layers(data, std::move(layers), from->url()));
    return data;
}

Result<std::shared_ptr<origin::OriginStorage>> StoreAccess::pieces_of(const RevisionData& data)
{
    BOOST_OUTCOME_TRY(from, store());
    const std::lock_guard lock{mutex_};
    if (pieces_) return pieces_;
    const objectstore::PublishedRevision published{data.revision, data.manifest_bytes, data.manifest};
    BOOST_OUTCOME_TRY(located, origin::locate(from, published, [this](const std::string& url) { return open(url); }));
    origin::OriginAccess access;
    access.gate = gate_;
    if (!located.files.empty()) access.readers = std::make_shared<origin::SideBySide>(readers);
    origin::Origin origin{
        data.revision, std::make_shared<const model::Manifest>(data.manifest), data.layout, data.layers, std::move(located.store), std::move(located.files)};
    pieces_ = std::make_shared<origin::OriginStorage>(std::move(origin), std::move(access));
    return pieces_;
}

Result<std::vector<char>> StoreAccess::piece(const RevisionData& data, PieceIndex piece)
{
    BOOST_OUTCOME_TRY(from, pieces_of(data));
    std::vector<char> bytes(data.layout->place(piece).length);
    if (!gate_->admit(bytes.size())) return failure(Errc::interrupted, "reading the store: " + url_ + ": the fetch has ended");
    BOOST_OUTCOME_TRYV(from->read(piece, 0, std::as_writable_bytes(std::span{bytes})));
    return bytes;
}

}  // namespace shoal::peer
