#include "peer/linger.hpp"

namespace shoal::peer {

bool may_leave(const std::optional<Duration>& wish, const LingerFacts& facts)
{
    if (wish) return facts.lingered >= *wish;
    return facts.needing_us == 0 || facts.wanting == 0U || facts.lingered >= longest_auto_linger;
}

}  // namespace shoal::peer
