#include "tracker/options.hpp"

#include "common/cli/options.hpp"
#include "common/core/quantity.hpp"
#include "common/net/address.hpp"
#include "common/objectstore/object_store.hpp"

#include <CLI/CLI.hpp>

namespace shoal::tracker {
namespace {

constexpr const char* program = "shoal-tracker";
constexpr std::chrono::milliseconds least_beat{200};
constexpr std::chrono::milliseconds most_beat{60'000};

// What is no duration at all is told by the flag itself.
Result<void> check_beat(const std::string& text)
{
    const auto beat = parse_duration(text);
    if (!beat || (beat.value() >= least_beat && beat.value() <= most_beat)) return success();
    return failure(Errc::invalid, "'" + text + "': expected 200ms to 60s");
}

void add_serve(CLI::App& app, ServeOptions& options)
{
    CLI::App& serve = *app.add_subcommand("serve", "Know who holds and wants what, and introduce them to each other");
    cli::add_check(
        serve.add_option("--store", options.store, "Object store, file:///directory or s3://bucket[/prefix]")->option_text("URL REQUIRED")->required(),
        objectstore::check_url);
    cli::add_check(serve.add_option("--listen", options.listen, "HTTP address")->option_text("[ADDR]:PORT (default :8080)"), net::check_http);
    CLI::Option* beat = cli::add_duration(serve, "--beat", options.beat, "How often processes report, 200ms to 60s; gone after two that are missed");
    cli::add_check(beat->option_text("DURATION (default 3s)"), check_beat);
    serve.add_option("--topology", options.topology, "Lines of '<address range or node name> <zone> [<rack>]', for nodes that do not say it themselves")
        ->option_text("FILE");
    cli::add_rate(serve, "--origin-limit", options.origin.limit, "Ceiling on reads of the object store by all seeders together");
    serve
        .add_option(
            "--origin-copies", options.origin.copies, "Copies of a revision that may leave the seeders, 1 to 64, where the origin has room and it helps")
        ->option_text("K (default 1)")
        ->check(CLI::Range(1U, 64U));
    serve.add_flag("--allow-stock-clients", options.allow_stock_clients, "Let plain BitTorrent clients take part: announce, scrape, torrents");
    serve.footer("Examples:\n"
                 "  shoal-tracker serve --store file:///srv/models\n"
                 "  shoal-tracker serve --store file:///srv/models --listen 127.0.0.1:8080 --topology /etc/shoal/topology");
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv)
{
    CommandLine line;
    CLI::App app{"shoal-tracker: who holds what, who wants it, who should talk to whom"};
    app.require_subcommand(1);
    cli::add_common(app, program);
    add_serve(app, line.serve);
    const auto parsed = cli::parse(app, program, argc, argv);
    line.run = parsed.run;
    line.exit_code = parsed.exit_code;
    return line;
}

}  // namespace shoal::tracker
