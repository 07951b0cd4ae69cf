// Who a seeder is to the trackers: the part of its beats that never changes. Pure, but for fresh random ids and the host's name.
#pragma once

#include "common/core/result.hpp"
#include "common/wire/beat.hpp"
#include "seeder/serve.hpp"

#include <cstdint>

namespace shoal::seeder {

// `port`: the one that is bound. Fails with invalid when --advertise is no address.
Result<wire::Beat> identify(const ServeOptions& options, std::uint16_t port);

}  // namespace shoal::seeder
