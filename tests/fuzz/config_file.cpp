#include "common/cli/config_file.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto entries = shoal::cli::parse_config({reinterpret_cast<const char*>(data), size});
    if (!entries) return 0;
    for (const auto& entry : entries.value()) {
        if (entry.line == 0) std::abort();
    }
    return 0;
}
