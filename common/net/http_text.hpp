// Bits of HTTP that server and client share. For common/net only. Pure.
#pragma once

#include "common/net/http.hpp"

#include <string>
#include <string_view>

namespace shoal::net {

std::string lower(std::string_view text);  // ASCII letters only

// Path and query of a request target into `request`. False unless it is "/..." whose query is percent-encoded as it should be.
bool parse_target(std::string_view target, Request& request);

}  // namespace shoal::net
