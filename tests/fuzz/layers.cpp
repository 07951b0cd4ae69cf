// Layers are read against a manifest: the input is the length of a manifest in four bytes, the manifest, and the layers. What decodes must encode to the same
// bytes, and cannot decode once a bit is turned.
#include "common/model/layers.hpp"
#include "common/model/layout.hpp"
#include "common/model/manifest.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace shoal::model;

void check_layers(std::string bytes, const Layout& layout)
{
    const auto layers = decode_layers(bytes, layout);
    if (!layers) return;
    if (encode(layers.value()) != bytes) std::abort();
    if (bytes.empty()) return;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    if (decode_layers(bytes, layout)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::uint32_t length = 0;
    if (size < sizeof length) return 0;
    std::memcpy(&length, data, sizeof length);
    const std::string_view rest{reinterpret_cast<const char*>(data) + sizeof length, size - sizeof length};
    const std::size_t cut = std::min<std::size_t>(length, rest.size());
    const auto manifest = decode_manifest(rest.substr(0, cut));
    if (manifest) check_layers(std::string{rest.substr(cut)}, Layout{manifest.value()});
    return 0;
}
