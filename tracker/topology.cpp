#include "tracker/topology.hpp"

#include <algorithm>
#include <sstream>

namespace shoal::tracker {
namespace {

std::vector<std::string> fields_of(std::string_view line)
{
    std::istringstream in{std::string{line.substr(0, line.find('#'))}};
    std::vector<std::string> fields;
    for (std::string field; in >> field;) fields.push_back(std::move(field));
    return fields;
}

}  // namespace

Result<void> Topology::add(const std::vector<std::string>& fields)
{
    if (fields.size() < 2 || fields.size() > 3) return failure(Errc::invalid, "expected '<address range or node name> <zone> [<rack>]'");
    for (const std::string& field : fields) {
        if (field.size() > max_field) return failure(Errc::invalid, "a field of more than " + std::to_string(max_field) + " bytes");
    }
    const Place place{fields[1], fields.size() == 3 ? fields[2] : std::string{}};
    if (const auto range = parse_range(fields[0])) {
        ranges_.push_back({*range, place});
        return success();
    }
    if (fields[0].find('/') != std::string::npos) return failure(Errc::invalid, "'" + fields[0] + "' is not an address range");
    if (!nodes_.emplace(fields[0], place).second) return failure(Errc::invalid, "node '" + fields[0] + "' is there twice");
    return success();
}

Result<Topology> Topology::parse(std::string_view text, std::string_view name)
{
    Topology topology;
    std::istringstream lines{std::string{text}};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const auto fields = fields_of(line);
        if (fields.empty()) continue;
        if (auto added = topology.add(fields); !added)
            return failure(Errc::invalid, "topology: " + std::string{name} + " line " + std::to_string(number) + ": " + added.error().message);
    }
    std::stable_sort(topology.ranges_.begin(), topology.ranges_.end(), [](const Entry& a, const Entry& b) { return a.range.bits > b.range.bits; });
    return topology;
}

Place Topology::find(const std::string& node, const std::optional<Address>& address) const
{
    if (const auto named = nodes_.find(node); named != nodes_.end()) return named->second;
    if (!address) return {};
    const auto in = std::find_if(ranges_.begin(), ranges_.end(), [&](const Entry& entry) { return entry.range.contains(*address); });
    return in == ranges_.end() ? Place{} : in->place;
}

}  // namespace shoal::tracker
