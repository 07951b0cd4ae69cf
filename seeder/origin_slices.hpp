// How fast this seeder may read the object store, by what the trackers say: the least of the slices it holds. Pure: time comes in. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/wire/beat.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace shoal::seeder {

class OriginSlices {
public:
    void heard(const wire::Reply& reply, TimePoint now);
    // Bytes a second; none: no tracker has a ceiling. A tenth of the last one once all slices have ended; 0 before the first.
    [[nodiscard]] std::optional<std::uint64_t> rate(TimePoint now) const;
    [[nodiscard]] std::vector<wire::Confirmed> confirmed(TimePoint now) const;

private:
    struct Word {
        bool capped = false;
        wire::OriginSlice slice;  // of number 0: none given
        TimePoint slice_heard;
        TimePoint heard;
        [[nodiscard]] bool holds(TimePoint now) const { return capped && slice.number > 0 && now - slice_heard < wire::origin_slice_lasts; }
    };
    [[nodiscard]] std::optional<std::uint64_t> least(TimePoint now) const;

    std::map<TrackerId, Word> words_;
    std::uint64_t last_ = 0;
};

}  // namespace shoal::seeder
