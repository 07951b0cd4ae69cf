#include "common/cli/options.hpp"
#include "common/cli/process.hpp"
#include "seeder/event_line.hpp"
#include "seeder/options.hpp"
#include "seeder/stop.hpp"

#include <exception>

namespace {

using namespace shoal;
using namespace shoal::seeder;

constexpr const char* program = "shoal-seeder";

// Each command but serve, which runs until a signal.
struct Run {
    const Stop& stop;
    Result<void> operator()(const PublishOptions& options) const { return publish(options, stop); }
    Result<void> operator()(const ListOptions& options) const { return list(options); }
    Result<void> operator()(const TagOptions& options) const { return tag(options); }
    Result<void> operator()(const Untag& options) const { return untag(options.tag); }
    Result<void> operator()(const VerifyOptions& options) const { return verify(options, stop); }
    Result<void> operator()(const RemoveOptions& options) const { return remove(options, stop); }
    Result<void> operator()(const ServeOptions& /*served*/) const { return success(); }
};

bool wants_json(const Command& command)
{
    return std::visit(
        [](const auto& options) {
            if constexpr (requires { options.output; })
                return options.output == Output::json;
            else
                return false;
        },
        command);
}

int run(const Command& command)
{
    if (const auto* options = std::get_if<ServeOptions>(&command)) return serve(*options);
    const Stop stop;
    const auto done = std::visit(Run{stop}, command);
    if (done) return 0;
    const int code = done.error().code == Errc::interrupted ? stop.exit_code() : exit_code(done.error().code);
    if (wants_json(command)) print_failure(cli::with_hint(done.error()), code);
    const int reported = cli::report(program, done.error());
    return done.error().code == Errc::interrupted ? code : reported;
}

}  // namespace

int main(int argc, char** argv)
{
    cli::begin_process();
    try {
        const CommandLine line = parse_command_line(argc, argv);
        return cli::end_process(program, line.run ? run(line.command) : line.exit_code);
    } catch (const std::exception& error) {
        return cli::report(program, {Errc::internal, std::string{"internal error: "} + error.what(), "please report it"});
    }
}
