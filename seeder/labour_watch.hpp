// What people see while a crew works, and how the crew hears of a signal. On main's thread.
#pragma once

#include "common/cli/progress.hpp"
#include "common/origin/origin_gate.hpp"
#include "seeder/crew.hpp"
#include "seeder/publish.hpp"

#include <functional>
#include <optional>
#include <string>

namespace shoal::seeder {

class LabourWatch {
public:
    LabourWatch(const Stop& stop, Output output, std::chrono::milliseconds interval, unsigned threads, std::uint64_t origin_limit);

    [[nodiscard]] Crew& crew() { return crew_; }
    [[nodiscard]] origin::OriginGate& gate() { return gate_; }
    void begin(std::string what, std::uint64_t total);  // "hashing llama"
    void finish();

private:
    bool tick();
    void show(TimePoint now);

    const Stop& stop_;
    Output output_;
    origin::OriginGate gate_;
    Crew crew_;
    cli::ProgressLine line_;
    std::chrono::milliseconds interval_;
    std::string what_;
    std::uint64_t total_ = 0;
    std::uint64_t before_ = 0;  // counted when this began
    TimePoint begun_{};
    TimePoint last_event_{};
};

}  // namespace shoal::seeder
