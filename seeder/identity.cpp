#include "seeder/identity.hpp"

#include "common/core/random.hpp"
#include "common/net/address.hpp"

#include <array>
#include <unistd.h>

namespace shoal::seeder {
namespace {

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
    const auto advertised = net::parse_advertised(options.advertise);
    if (!advertised) return failure(Errc::invalid, "--advertise: " + advertised.error().message);
    self.addresses = {advertised.value().address};
    if (advertised.value().port != 0) self.port = advertised.value().port;
    return self;
}

}  // namespace shoal::seeder
