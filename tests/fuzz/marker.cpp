// Any bytes as a marker: they decode or not; what decodes is written and read again as the same.
#include "peer/marker.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace shoal::peer;
    const auto marker = decode_marker({reinterpret_cast<const char*>(data), size});
    if (!marker) return 0;
    const auto again = decode_marker(encode(marker.value()));
    if (!again || again.value() != marker.value()) std::abort();
    return 0;
}
