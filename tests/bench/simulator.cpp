// Prints the simulator's table: usage: bench_simulator [--json] [--large]   --large: with 10 000 peers, too
#include "common/sim/scenario.hpp"

#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

using namespace shoal;

struct Row {
    std::size_t peers;
    std::size_t neighbours;
    double down_over_up;
    std::uint32_t pieces = 1000;
    bool large = false;
};

constexpr Row rows[] = {{8, 40, 2}, {300, 40, 2}, {1000, 40, 2}, {1000, 40, 1}, {1000, 20, 2}, {1000, 10, 2}, {1000, 40, 2, 200}, {10000, 40, 2, 1000, true},
    {10000, 40, 1, 1000, true}};

sim::Scenario scenario_of(const Row& row)
{
    sim::Scenario scenario;
    scenario.pieces = row.pieces;
    if (row.neighbours != scenario.handout.target) {
        scenario.handout.target = row.neighbours;
        scenario.handout.floor = row.neighbours / 2;
        scenario.handout.most = row.neighbours * 3 / 2;
    }
    sim::Host host;
    host.down = row.down_over_up * host.up;
    scenario.hosts.assign(row.peers, host);
    return scenario;
}

void print(const Row& row, bool json, bool first)
{
    const auto began = std::chrono::steady_clock::now();
    const sim::Outcome outcome = sim::play(scenario_of(row));
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const char* format = json ? "%s{\"peers\": %zu, \"neighbours\": %zu, \"down_over_up\": %.0f, \"pieces\": %u, \"last_over_bound\": %.3f, \"copies\": %.3f, "
                                "\"wall_seconds\": %.1f}"
                              : "%s| %zu | %zu | %.0f | %u | %.3f | %.3f | %.1f |\n";
    const char* between = !json ? "" : first ? "[" : ",\n ";
    std::printf(format, between, row.peers, row.neighbours, row.down_over_up, row.pieces, outcome.last_over_bound(), outcome.copies, wall);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv)
{
    bool json = false, large = false;
    for (int i = 1; i < argc; ++i) {
        json |= std::string_view{argv[i]} == "--json";
        large |= std::string_view{argv[i]} == "--large";
    }
    if (!json) std::printf("| peers | neighbours | down/up | pieces | last/bound | copies | wall s |\n|---|---|---|---|---|---|---|\n");
    bool first = true;
    for (const Row& row : rows) {
        if (row.large && !large) continue;
        print(row, json, first);
        first = false;
    }
    if (json) std::printf("]\n");
}
