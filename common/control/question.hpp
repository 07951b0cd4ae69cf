// What may be asked of any tracker: a GET, and what counts as its answer. Pure.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace shoal::control {

struct Question {
    std::string target;     // path and query
    std::size_t limit = 0;  // bytes of the body; a longer one is no answer
    Duration within{};      // for the whole, all trackers and tries taken together
    // Whether a body is the answer. One that is not is its tracker's fault, and the next is asked; if no other knows better, `malformed` is asked again until
    // time is up, and any other error is the end.
    std::function<Result<void>(const std::string& body)> accept;
};

}  // namespace shoal::control
