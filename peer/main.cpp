// shoal-peer: fetches a revision into a directory, and checks what it fetched.
#include "common/cli/process.hpp"
#include "peer/options.hpp"
#include "peer/run.hpp"

int main(int argc, char** argv)
{
    shoal::cli::begin_process();
    shoal::peer::Options options;
    const auto parsed = shoal::peer::parse_options(argc, argv, options);
    int code = parsed.exit_code;
    if (parsed.run) code = options.fetch ? shoal::peer::run_fetch(std::move(*options.fetch)) : shoal::peer::run_verify(*options.verify);
    return shoal::cli::end_process(shoal::peer::program, code);
}
