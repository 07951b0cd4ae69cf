// A content whose reads wait at a gate. Any thread.
#pragma once

#include "seeder/content.hpp"
#include "seeder/origin_gate.hpp"

namespace shoal::seeder {

// `gate` outlives the content. Nothing is read ahead of the ceiling.
Content rationed(Content content, OriginGate& gate);

}  // namespace shoal::seeder
