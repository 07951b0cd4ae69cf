// shoal-tracker: who holds and wants what, and who should talk to whom.
#include "common/cli/options.hpp"
#include "common/cli/process.hpp"
#include "tracker/options.hpp"
#include "tracker/serve.hpp"

#include <exception>

int main(int argc, char** argv)
{
    shoal::cli::begin_process();
    try {
        const auto line = shoal::tracker::parse_command_line(argc, argv);
        return shoal::cli::end_process("shoal-tracker", line.run ? shoal::tracker::serve(line.serve) : line.exit_code);
    } catch (const std::exception& error) {
        return shoal::cli::report("shoal-tracker", {shoal::Errc::internal, std::string{"internal error: "} + error.what(), "please report it"});
    }
}
