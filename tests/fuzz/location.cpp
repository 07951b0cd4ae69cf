#include "common/objectstore/catalog.hpp"

#include <cstdint>
#include <cstdlib>

// What a record decoder takes must come back from its encoder: a file more or less would serve other bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace shoal;
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    model::Manifest manifest;
    manifest.files.resize(2);
    const auto location = objectstore::decode_location(bytes, manifest);
    if (location) {
        const auto again = objectstore::decode_location(objectstore::encode(location.value()), manifest);
        if (!again || again.value().root != location.value().root || again.value().files.size() != location.value().files.size()) std::abort();
    }
    const auto pointer = objectstore::decode_pointer(bytes);
    if (pointer && objectstore::decode_pointer(objectstore::encode_pointer(pointer.value())).value() != pointer.value()) std::abort();
    return 0;
}
