// Which zone and rack a node is in, from --topology FILE, for nodes that do not say it themselves. Immutable; any thread.
#pragma once

#include "common/core/result.hpp"
#include "common/policy/place.hpp"
#include "tracker/address.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tracker {

using policy::Place;

// One line an entry: `<address range or node name> <zone> [<rack>]`, fields apart by blanks; `#` starts a comment.
//     10.1.0.0/16   eu-1a  r7
//     gpu-node-17   eu-1b
// A node's name goes before its address, a longer prefix before a shorter one.
class Topology {
public:
    static constexpr std::size_t max_bytes = 4U << 20U;
    static constexpr std::size_t max_field = 255;  // bytes

    // invalid, naming `name` and the line: too few or many fields, a range that is none, a node twice.
    static Result<Topology> parse(std::string_view text, std::string_view name);

    [[nodiscard]] Place find(const std::string& node, const std::optional<Address>& address) const;

private:
    struct Entry {
        AddressRange range;
        Place place;
    };
    Result<void> add(const std::vector<std::string>& fields);

    std::map<std::string, Place> nodes_;
    std::vector<Entry> ranges_;  // longest prefix first
};

}  // namespace shoal::tracker
