// What an error answer of a tracker says (RFC 9457, application/problem+json). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shoal::control {

// The "detail" of a problem, else its "title"; none where the body holds neither. At most 1000 bytes.
std::optional<std::string> problem_detail(std::string_view body);

}  // namespace shoal::control
