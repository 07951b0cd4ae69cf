// How the ceiling on reads of the object store is split among the live seeders, so that together they never read faster. Pure: time comes in. Not thread-safe.
//
// A slice that shrinks counts in full until its seeder has confirmed the smaller one in a beat, or can be reading by it no more; only then another grows.
// A tracker that has just started confirms what seeders say they hold, and for two beats grants nothing new (docs/operations.md).
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/wire/beat.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace shoal::tracker {

// What a seeder says in a beat; bytes a second.
struct OriginClaim {
    std::uint64_t obeys = 0;      // the least of the slices that it holds, of any tracker; 0: none
    std::uint64_t confirmed = 0;  // the number of the last slice of this tracker that it has heard; 0: none
    bool busy = false;            // it reads
};

class OriginShares {
public:
    OriginShares(std::uint64_t limit, Duration beat, TimePoint started)  // limit 0: there is none
        : limit_{limit}, lasts_{wire::origin_slice_lasts + beat + on_the_way}, grants_from_{started + 2 * beat}
    {}

    // Each gives back whose slice has changed, and should hear of it.
    std::vector<PeerId> heard(const PeerId& seeder, const OriginClaim& claim, TimePoint now);
    std::vector<PeerId> left(const PeerId& seeder, TimePoint now);    // it said so, and reads no more
    std::vector<PeerId> silent(const PeerId& seeder, TimePoint now);  // it may read on until its slice ends
    std::vector<PeerId> pass(TimePoint now);                          // what time alone brings

    void told(const PeerId& seeder, TimePoint now);  // a reply with its slice has gone out
    [[nodiscard]] std::uint64_t limit() const { return limit_; }
    [[nodiscard]] wire::OriginSlice slice(const PeerId& seeder) const;  // of number 0: none yet

private:
    static constexpr Duration on_the_way = std::chrono::seconds{10};  // a reply, at most, beside the beat that it may be held
    struct Seeder {
        // The one that it has confirmed, and those it was granted since; never empty. Of number 0: what it may read by other trackers' word.
        std::vector<wire::OriginSlice> slices;
        bool busy = false;
        bool live = true;
        TimePoint told;
        [[nodiscard]] std::uint64_t granted() const { return slices.back().number == 0 ? 0 : slices.back().rate; }
        [[nodiscard]] std::uint64_t most() const;  // that it may be reading by
        void grant(std::uint64_t rate);
        void confirm(std::uint64_t number);
    };
    [[nodiscard]] std::uint64_t target(const Seeder& seeder) const;
    std::vector<PeerId> split(TimePoint now);

    std::uint64_t limit_;
    Duration lasts_;
    TimePoint grants_from_;
    std::map<PeerId, Seeder> seeders_;
    std::size_t live_ = 0;
    std::size_t busy_ = 0;  // of the live
};

}  // namespace shoal::tracker
