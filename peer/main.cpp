// shoal-peer: fetches a revision into a directory, and checks what it fetched.
#include "peer/options.hpp"
#include "peer/run.hpp"

#include <csignal>

int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    shoal::peer::Options options;
    const auto parsed = shoal::peer::parse_options(argc, argv, options);
    if (!parsed.run) return parsed.exit_code;
    return options.fetch ? shoal::peer::run_fetch(std::move(*options.fetch)) : shoal::peer::run_verify(*options.verify);
}
