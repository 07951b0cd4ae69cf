// shoal-peer: fetches a revision into a directory, and checks what it fetched.
#include "common/cli/options.hpp"
#include "common/cli/process.hpp"
#include "peer/options.hpp"
#include "peer/run.hpp"

#include <exception>

int main(int argc, char** argv)
{
    using namespace shoal;
    cli::begin_process();
    try {
        peer::Options options;
        const auto parsed = peer::parse_options(argc, argv, options);
        int code = parsed.exit_code;
        if (parsed.run) code = options.fetch ? peer::run_fetch(std::move(*options.fetch)) : peer::run_verify(*options.verify);
        return cli::end_process(peer::program, code);
    } catch (const std::exception& error) {
        return cli::report(peer::program, {Errc::internal, std::string{"internal error: "} + error.what(), "please report it"});
    }
}
