// The zones of a simulated swarm by number, and what crosses their borders. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/sim/scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::sim {

class Borders {
public:
    explicit Borders(const Scenario& scenario);

    [[nodiscard]] std::size_t zones() const { return zones_.size(); }
    [[nodiscard]] std::size_t number_of(const std::string& zone) const;
    [[nodiscard]] const std::string& name_of(std::size_t zone) const { return zones_[zone].name; }
    [[nodiscard]] bool narrow() const { return passing_ > Duration{}; }

    // A piece may set out from one zone to another: few wait at either border.
    [[nodiscard]] bool has_room(std::size_t from, std::size_t to, TimePoint now) const;
    void sets_out(std::size_t from, std::size_t to);
    // It has come to the border: when it is through.
    TimePoint reaches(std::size_t from, std::size_t to, TimePoint now);
    void gives_up(std::size_t from, std::size_t to);  // or it does not come there
    void crossed(std::uint64_t bytes) { crossed_ += bytes; }
    [[nodiscard]] std::uint64_t crossed() const { return crossed_; }

private:
    struct Way {
        std::size_t coming = 0;  // pieces
        TimePoint free{};        // from when on another can pass
    };
    [[nodiscard]] bool has_room(const Way& way, TimePoint now) const;

    struct Zone {
        std::string name;
        Way out, in;
    };
    Duration passing_{};  // how long one piece takes; none: there is no border
    std::vector<Zone> zones_;
    std::uint64_t crossed_ = 0;
};

}  // namespace shoal::sim
