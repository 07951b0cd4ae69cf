// A swarm while it is played: the hosts, what is under way, and what happens next. Not thread-safe.
#pragma once

#include "common/core/random.hpp"
#include "common/sim/borders.hpp"
#include "common/sim/graph.hpp"
#include "common/sim/node.hpp"
#include "common/sim/origin.hpp"
#include "common/sim/scenario.hpp"
#include "common/sim/timeline.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace shoal::sim {

class Swarm {
public:
    explicit Swarm(const Scenario& scenario);  // which must outlive it
    Outcome run();

private:
    void add_hosts();
    [[nodiscard]] bool has_zones() const { return borders_.zones() > 1; }
    void add(Event::Kind kind, Duration after, Number to) { timeline_.add({.kind = kind, .at = now_ + after, .to = to}); }
    void happen(const Event& event);
    [[nodiscard]] bool is_over() const { return joins_ == 0 && living_ == complete_; }

    // coming and going (swarm.cpp)
    void join(Number number);
    void die(Number number);
    void beat(Number number);
    void tick();
    void rewire();
    void rewire_seeder(const std::vector<Number>& neighbours);
    void look_for_hungry();
    void leave_seeder(Number number);

    // who is linked (links.cpp)
    void link(Number a, Number b);
    void unlink(Number a, Number b);
    void unlink_all(Number number);
    void ban(Number a, Number b);
    void count(Node& by, const Node& of, int sign, bool across);
    void know_zone_mate(Number number, bool came);
    void widen_borders();
    void know_zone(Node& by, const Node& of, int sign);
    void hear(Node& node, bool across, std::uint32_t piece);
    bool reconsider(Node& node, std::uint32_t piece);

    // giving (giving.cpp)
    void seed();
    void send();
    void seeder_sent(const Event& event);
    void sent(const Event& event);
    void known(const Event& event);
    void in_vain(const Event& event);
    void begin(Event::Kind kind, Number from, Number to, std::uint32_t piece, double up);
    void deliver(const Event& event);
    void cross(std::size_t from);
    void drop(const Event& event);
    void gain(Number number, std::uint32_t piece);
    void give(Number from);
    bool give_some(Number from, bool only_across);
    void give_across(std::size_t zone);
    bool give_to(Number from, Link& link);
    void feed(Number to);
    void ask_in_vain(Number from, Number to);
    std::uint32_t rarest(const Node& from, const Node& to, bool spare);
    [[nodiscard]] Duration time_of(double rate) const;
    [[nodiscard]] Duration delay_of(const Node& node) const { return scenario_.delay + node.delay; }

    const Scenario& scenario_;
    Random random_;
    Graph graph_;
    Origin origin_;
    Borders borders_;
    std::vector<Line> lines_;            // by host
    std::vector<std::uint8_t> holders_;  // by host and piece
    std::vector<Node> nodes_;
    Timeline timeline_;
    TimePoint now_{};
    TimePoint looked_{};                    // for the hungry, and at the borders
    std::optional<TimePoint> reads_until_;  // an event will tell
    std::set<Number> beside_seeder_;
    std::size_t living_ = 0, complete_ = 0, joins_ = 0;  // joins: that are to come
    bool seeder_has_company_ = false;                    // some are in its zone
    std::uint64_t transfers_ = 0;
};

}  // namespace shoal::sim
