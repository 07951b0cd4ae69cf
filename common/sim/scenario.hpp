// A swarm to be played in virtual time, and what came of it. Values. The decisions are the product's own: policy::Dispatch and policy::Uplink at the seeder,
// policy::Handout for who knows whom, policy::ZoneFilter at the border.
//
// What is simulated: an uplink sends one piece after the other, at its rate or that of the receiver's downlink; a downlink takes as many at once as fit. A HAVE
// and the request that it brings take a round trip. A peer gives to its neighbours in turn, and each is given what is rarest in its own eyes. What real sessions
// do within a piece, and the cost of processors and disks, is left out.
#pragma once

#include "common/core/clock.hpp"
#include "common/policy/dispatch.hpp"
#include "common/policy/handout.hpp"
#include "common/policy/uplink.hpp"
#include "common/policy/zone_filter.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::sim {

enum class Conduct : std::uint8_t {
    honest,
    silent,  // announces what it takes, and gives nothing: who asks it waits, and does not ask again
    lying,   // gives wrong bytes: whom it does so bans it
};

struct Host {
    double up = 12e6;              // bytes/s
    double down = 24e6;            // bytes/s
    Duration delay{};              // that its link adds, one way
    Duration joins{};              // since the start
    std::optional<Duration> dies;  // since the start
    std::string zone;
    bool dialable = true;
    Conduct conduct = Conduct::honest;
};

struct Scenario {
    std::uint64_t seed = 1;  // the same scenario has the same outcome
    std::uint32_t pieces = 1000;
    std::uint32_t piece_bytes = 256U << 10U;
    double seeder_up = 12e6;                        // bytes/s
    std::uint64_t origin_limit = 0;                 // bytes/s that the seeder reads from the store; 0: no limit
    std::uint32_t origin_copies = 1;                // that may leave the seeder
    std::string seeder_zone;                        // it shows pieces there alone, if anybody is there
    double border = 0;                              // bytes/s into each zone, and as many out of it; 0: no limit
    Duration delay = std::chrono::milliseconds{1};  // between any two, one way
    Duration beat = std::chrono::seconds{3};        // two of them missed, and the hand-out forgets a host
    Duration in_vain = std::chrono::seconds{6};     // how long a silent host is waited for
    Duration end = std::chrono::minutes{30};        // nothing is played beyond
    std::vector<Host> hosts;
    policy::DispatchLimits dispatch;  // but for extra_bytes, which go by the size of the revision
    policy::UplinkLimits uplink;
    policy::HandoutLimits handout;  // `most` up to 127
    policy::ZoneLimits zones;
};

struct HostOutcome {
    bool lives = false;            // at the end
    std::optional<Duration> took;  // since it joined; none: it has not all
    std::uint64_t received = 0;    // bytes of whole pieces, right ones
    std::uint64_t shown = 0;       // of them, by the seeder
    std::uint64_t given = 0;
    std::size_t neighbours = 0;  // at most
};

struct Outcome {
    std::vector<HostOutcome> hosts;  // as in the scenario
    std::size_t unfinished = 0;      // of those that live
    Duration last{}, median{};       // of those that live and have all
    double bound = 0;                // seconds: max(F/u_s, F/d_min, NF/(u_s + sum u)) of those that live; only the honest have an uplink, and u_s is
                                     // what the seeder may read, if that is less
    double copies = 0;               // bytes that left the seeder / F
    double busiest_second = 0;       // bytes that left the seeder in any second, at most
    double busiest_read = 0;         // bytes that the seeder began to read from the store in any second, at most
    double crossed = 0;              // bytes between zones / F
    std::uint64_t overruns = 0;      // times that something was shown beyond the window
    std::uint64_t transfers = 0;

    [[nodiscard]] double last_over_bound() const { return std::chrono::duration<double>(last).count() / bound; }
    [[nodiscard]] double median_over_bound() const { return std::chrono::duration<double>(median).count() / bound; }
    // How far the last is behind the one in the middle.
    [[nodiscard]] double last_over_median() const { return std::chrono::duration<double>(last) / std::chrono::duration<double>(median); }
};

// One thread; takes some 1 us a transfer.
Outcome play(const Scenario& scenario);

}  // namespace shoal::sim
