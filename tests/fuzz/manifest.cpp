// What decodes as a manifest must encode to the same bytes, and be something that layout and torrent can be made of.
#include "common/model/manifest.hpp"
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/torrent.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace shoal::model;
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto manifest = decode_manifest(bytes);
    if (!manifest) {
        if (manifest.error().message.empty()) std::abort();
        return 0;
    }
    if (encode(manifest.value()) != bytes || !check(manifest.value())) std::abort();
    const Layout layout{manifest.value()};
    if (layout.pieces() > max_pieces || layout.bytes() != manifest.value().bytes()) std::abort();
    if (layout.pieces() > 0 && info_dictionary(layout, revision_of(bytes)).empty()) std::abort();
    return 0;
}
