// Where a node is: in which rack of which zone. A value.
#pragma once

#include <compare>
#include <string>

namespace shoal::policy {

struct Place {
    std::string zone, rack;  // empty: unknown
    auto operator<=>(const Place&) const = default;
};

}  // namespace shoal::policy
