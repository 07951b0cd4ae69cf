#include "common/control/problem.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto detail = shoal::control::problem_detail({reinterpret_cast<const char*>(data), size});
    if (detail && detail->size() > 1000 + 3) std::abort();
    return 0;
}
