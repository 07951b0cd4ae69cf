#include "seeder/identity.hpp"

#include "common/core/random.hpp"

#include <array>
#include <charconv>
#include <unistd.h>

namespace shoal::seeder {
namespace {

struct Advertised {
    std::string address;
    std::uint16_t port = 0;  // 0: not given
};

Result<std::uint16_t> parse_port(std::string_view text, const std::string& whole)
{
    std::uint16_t port = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (ec != std::errc{} || end != text.data() + text.size() || port == 0)
        return failure(Errc::invalid, "--advertise: '" + whole + "': expected a port from 1 to 65535, found '" + std::string{text} + "'");
    return port;
}

// "1.2.3.4", "1.2.3.4:6881", "::1", "[::1]", "[::1]:6881"
Result<Advertised> parse_advertise(const std::string& text)
{
    const std::size_t bracket = text.find(']');
    const bool bracketed = text.starts_with('[') && bracket != std::string::npos;
    const std::size_t colon = bracketed ? text.find(':', bracket) : text.find(':') == text.rfind(':') ? text.find(':') : std::string::npos;
    Advertised advertised{bracketed ? text.substr(1, bracket - 1) : text.substr(0, colon), 0};
    if (advertised.address.empty() || (bracketed && colon == std::string::npos && bracket + 1 != text.size()))
        return failure(Errc::invalid, "--advertise: '" + text + "': expected ADDR or ADDR:PORT");
    if (colon == std::string::npos) return advertised;
    BOOST_OUTCOME_TRY(port, parse_port(std::string_view{text}.substr(colon + 1), text));
    advertised.port = port;
    return advertised;
}

std::string host_name()
{
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Result<wire::Beat> identify(const ServeOptions& options, std::uint16_t port)
{
    wire::Beat self;
    self.peer = random_id<PeerId>();
    self.key = random_id<MemberKey>();
    self.instance = random_seed();
    self.role = wire::Role::seeder;
    self.port = port;
    self.software = "shoal-seeder " SHOAL_VERSION;
    self.node = options.node.empty() ? host_name() : options.node;
    self.zone = options.zone;
    self.rack = options.rack;
    self.labels = options.labels;
    if (options.advertise.empty()) return self;
    BOOST_OUTCOME_TRY(advertised, parse_advertise(options.advertise));
    self.addresses = {advertised.address};
    if (advertised.port != 0) self.port = advertised.port;
    return self;
}

}  // namespace shoal::seeder
