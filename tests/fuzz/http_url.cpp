#include "common/net/http.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (shoal::net::percent_decode(shoal::net::percent_encode(text)).value() != text) std::abort();
    static_cast<void>(shoal::net::percent_decode(text));
    const auto url = shoal::net::parse_url(text);
    if (url && (url.value().host.empty() || url.value().port == 0 || url.value().host.find('@') != std::string::npos)) std::abort();
    return 0;
}
