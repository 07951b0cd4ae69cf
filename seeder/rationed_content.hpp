// A content whose reads wait at a gate. Any thread.
#pragma once

#include "common/origin/origin_gate.hpp"
#include "seeder/content.hpp"

namespace shoal::seeder {

// `gate` outlives the content. Nothing is read ahead of the ceiling.
Content rationed(Content content, origin::OriginGate& gate);

}  // namespace shoal::seeder
