#include "common/wire/beat.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto first = shoal::wire::decode_reply(std::as_bytes(std::span{data, size}));
    if (!first) return 0;
    const auto again = shoal::wire::decode_reply(shoal::as_bytes(shoal::wire::encode(first.value())));
    if (!again || again.value() != first.value()) std::abort();
    return 0;
}
