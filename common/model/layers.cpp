#include "common/model/layers.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/model/names.hpp"

#include <cstring>
#include <span>

namespace shoal::model {

std::string encode(const Layers& layers)
{
    std::string bytes;
    bytes.reserve(layers.size() * Digest::size);
    for (const Digest& digest : layers) bytes.append(reinterpret_cast<const char*>(digest.bytes.data()), Digest::size);
    return bytes;
}

Result<Layers> decode_layers(std::string_view bytes, const Layout& layout)
{
    const std::size_t expected = std::size_t{layout.pieces()} * Digest::size;
    if (bytes.size() != expected)
        return failure(Errc::integrity, "piece layers are damaged: expected " + std::to_string(expected) + " bytes, found " + std::to_string(bytes.size()));
    Layers layers(layout.pieces());
    if (!layers.empty()) std::memcpy(layers.data(), bytes.data(), bytes.size());
    for (const SwarmFile& file : layout.files()) {
        const Digest root = crypto::root_of_layer(std::span{layers}.subspan(file.first_piece, file.pieces), layout.piece_size());
        if (root != file.pieces_root)
            return failure(Errc::integrity,
                "piece layers are damaged: '" + printable(file.path) + "': expected pieces root " + to_hex(file.pieces_root) + ", found " + to_hex(root));
    }
    return layers;
}

}  // namespace shoal::model
