// Addresses as people write and read them. Pure.
#pragma once

#include "common/core/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::net {

struct HostPort {
    std::string address;  // without brackets
    std::uint16_t port = 0;
};

// "1.2.3.4:80", "host:80", "[::1]:80"; `host` without brackets.
std::string endpoint_text(const std::string& host, std::uint16_t port);

// Where to listen: "1.2.3.4:80", "[::1]:80", or ":80", whose address is empty: all of them. Port 0 picks one. invalid for anything else, names included.
Result<HostPort> parse_listen(std::string_view text);

// Where others dial: "1.2.3.4", "1.2.3.4:6881", "::1", "[::1]", "[::1]:6881"; port 0 where none is given. invalid for anything else, names included.
Result<HostPort> parse_advertised(std::string_view text);

// Whether a flag's value is one of these; invalid, saying what is expected. Where the flag may be left out, it may be empty.
Result<void> check_tracker(const std::string& text);      // an http URL
Result<void> check_http(const std::string& text);         // where HTTP is served; may be empty
Result<void> check_peer_listen(const std::string& text);  // with an address
Result<void> check_advertised(const std::string& text);   // may be empty

}  // namespace shoal::net
