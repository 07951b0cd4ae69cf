#include "seeder/options.hpp"

#include "common/cli/options.hpp"
#include "common/control/client.hpp"
#include "common/core/quantity.hpp"
#include "common/net/address.hpp"
#include "common/objectstore/object_store.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>

namespace shoal::seeder {
namespace {

constexpr const char* program = "shoal-seeder";
constexpr const char* examples = R"(Examples:
  shoal-seeder publish ./llama --model meta-llama/Llama-3.1-8B --tag prod --store file:///srv/models
  shoal-seeder serve --store file:///srv/models --tracker http://tracker:8080
  shoal-seeder ls --store file:///srv/models)";
constexpr const char* publish_examples = R"(Examples:
  shoal-seeder publish ./llama --model meta-llama/Llama-3.1-8B --tag prod --store file:///srv/models
  shoal-seeder publish ~/.cache/huggingface/hub/models--x/snapshots/abc --model x --follow-links --store file:///srv/models
  shoal-seeder publish s3://bucket/llama --model llama --store s3://bucket/shoal)";
constexpr const char* serve_example = R"(Example:
  shoal-seeder serve --store file:///srv/models --tracker http://tracker:8080 --zone eu-1a --upload-limit 400MB/s)";
constexpr const char* tag_example = R"(Example:
  shoal-seeder tag llama prod sha256:... --store file:///srv/models)";
constexpr const char* untag_example = R"(Example:
  shoal-seeder untag llama prod --store file:///srv/models)";
constexpr const char* list_example = R"(Example:
  shoal-seeder ls llama --store file:///srv/models --json)";
constexpr const char* verify_example = R"(Example:
  shoal-seeder verify llama sha256:... --store file:///srv/models --origin-limit 200MB/s)";
constexpr const char* remove_example = R"(Example:
  shoal-seeder remove llama sha256:... --store file:///srv/models --tracker http://tracker:8080 --dry-run)";

// All that the flags write into; CLI11 keeps pointers to it.
struct Flags {
    PublishOptions publish;
    ServeOptions serve;
    ListOptions list;
    TagOptions tag;
    TagOptions untag;
    VerifyOptions verify;
    RemoveOptions remove;
    std::vector<std::string> annotations;
    std::vector<std::string> labels;
    bool in_place = false;
    bool copy = false;
    bool follow_links = false;
    bool strict = false;
    bool dry_run = false;
    bool json = false;
    bool offline = false;
    bool force = false;
};

void add_store(CLI::App& app, std::string& store)
{
    cli::add_check(app.add_option("--store", store, "Object store, file:///directory or s3://bucket[/prefix]")->option_text("URL REQUIRED")->required(),
        objectstore::check_url);
}

void add_json(CLI::App& app, Flags& flags)
{
    app.add_flag("--json", flags.json, "One JSON object per line on stdout");
}

void add_dry_run(CLI::App& app, Flags& flags)
{
    app.add_flag("--dry-run", flags.dry_run, "Say what would be done, change nothing");
}

void add_trackers(CLI::App& app, std::vector<std::string>& trackers)
{
    trackers = {control::default_tracker};
    CLI::Option* option = cli::add_list(app, "--tracker", trackers, "Tracker, may be repeated");
    cli::add_check(option->option_text(std::string{"URL (default "} + control::default_tracker + ")"), net::check_tracker);
}

void add_model_and_revision(CLI::App& app, std::string& model, std::string& revision)
{
    app.add_option("MODEL", model, "Name of the model")->required();
    app.add_option("REVISION", revision, "sha256:<64 hex>")->required();
}

// Lists whose values may hold commas.
void add_repeated(CLI::App& app, const std::string& flag, std::vector<std::string>& values, const std::string& text, const std::string& help)
{
    app.add_option(flag, values, help)->option_text(text)->allow_extra_args(false);
}

std::string refuse_zero(const std::string& text)
{
    const auto size = parse_size(text);
    return size && size.value() == 0 ? "expected a power of two from 256 KiB to 16 MiB" : std::string{};
}

void add_publish(CLI::App& app, Flags& flags)
{
    PublishOptions& options = flags.publish;
    CLI::App& command = *app.add_subcommand("publish", "Make an immutable revision of a directory, a file, or the keys below a prefix; prints it");
    command.footer(publish_examples);
    command.add_option("SRC", options.source, "Directory, one file, or s3://bucket[/prefix]")->required();
    command.add_option("--model", options.model, "Name of the model")->option_text("NAME REQUIRED")->required();
    add_store(command, options.store);
    cli::add_list(command, "--tag", options.tags, "Mutable name for the revision, may be repeated")->option_text("TAG");
    command.add_option("--data-version", options.data_version, "Part of the revision")->option_text("V");
    command.add_option("--transform-version", options.transform_version, "Part of the revision")->option_text("V");
    add_repeated(command, "--annotation", flags.annotations, "K=V", "Part of the revision, may be repeated");
    add_repeated(command, "--include", options.selection.include, "GLOB", "Only these files; * crosses /");
    add_repeated(command, "--exclude", options.selection.exclude, "GLOB", "Not these files, after --include");
    cli::add_size(command, "--piece-size", options.piece_size, "Power of two from 256 KiB to 16 MiB; another one gives another revision")
        ->check(CLI::Validator{[](std::string& text) { return refuse_zero(text); }, ""});
    CLI::Option* in_place = command.add_flag("--in-place", flags.in_place, "Refer to the files where they are instead of copying them (default for s3://)");
    command.add_flag("--copy", flags.copy, "Copy the files into the store (default for directories)")->excludes(in_place);
    command.add_flag("--follow-links", flags.follow_links, "Take the files that links out of SRC point to");
    command.add_flag("--strict", flags.strict, "Refuse what looks like damaged weights instead of warning");
    cli::add_rate(command, "--origin-limit", options.origin_limit, "Ceiling on reads of SRC");
    cli::add_duration(command, "--progress-interval", options.progress_interval, "Between lines of progress");
    add_dry_run(command, flags);
    add_json(command, flags);
}

void add_serve(CLI::App& app, Flags& flags)
{
    ServeOptions& options = flags.serve;
    CLI::App& command = *app.add_subcommand("serve", "Give pieces to the swarms of all revisions that trackers ask for");
    command.footer(serve_example);
    add_store(command, options.store);
    add_trackers(command, options.trackers);
    CLI::Option* listen = cli::add_list(command, "--listen", options.listen, "BitTorrent address, may be repeated");
    cli::add_check(listen->option_text("ADDR:PORT (default 0.0.0.0:6881 and [::]:6881)"), net::check_peer_listen);
    CLI::Option* http = command.add_option("--http", options.http, "Address of /metrics, /livez, /readyz");
    cli::add_check(http->option_text("ADDR:PORT (default 127.0.0.1:8081)"), net::check_http);
    cli::add_rate(command, "--origin-limit", options.origin_limit, "Ceiling on reads of the store");
    cli::add_rate(command, "--upload-limit", options.upload_limit, "Ceiling on what is sent to peers");
    cli::add_size(command, "--cache-size", options.cache_bytes, "Memory for verified pieces (default 96MiB)");
    command.add_option("--node", options.node, "Name of this machine")->option_text("NAME (default NODE_NAME, else the hostname)");
    command.add_option("--zone", options.zone, "Zone of this machine")->option_text("ZONE");
    command.add_option("--rack", options.rack, "Rack of this machine")->option_text("RACK");
    add_repeated(command, "--label", flags.labels, "K=V", "Label of this machine, may be repeated");
    CLI::Option* advertise = command.add_option("--advertise", options.advertise, "Where others reach this seeder");
    cli::add_check(advertise->option_text("ADDR[:PORT] (default POD_IP)"), net::check_advertised);
}

void add_tag_commands(CLI::App& app, Flags& flags)
{
    CLI::App& tag = *app.add_subcommand("tag", "Let a tag name a revision");
    tag.footer(tag_example);
    tag.add_option("MODEL", flags.tag.model, "Name of the model")->required();
    tag.add_option("TAG", flags.tag.tag, "Mutable name")->required();
    tag.add_option("REVISION", flags.tag.revision, "sha256:<64 hex>")->required();
    add_store(tag, flags.tag.store);
    add_dry_run(tag, flags);
    CLI::App& untag = *app.add_subcommand("untag", "Take a tag away; the revision stays");
    untag.footer(untag_example);
    untag.add_option("MODEL", flags.untag.model, "Name of the model")->required();
    untag.add_option("TAG", flags.untag.tag, "Mutable name")->required();
    add_store(untag, flags.untag.store);
    add_dry_run(untag, flags);
}

void add_catalog_commands(CLI::App& app, Flags& flags)
{
    CLI::App& list = *app.add_subcommand("ls", "List models, revisions and tags");
    list.footer(list_example);
    list.add_option("MODEL", flags.list.model, "Only this model, with files and bytes");
    add_store(list, flags.list.store);
    add_json(list, flags);
    CLI::App& verify = *app.add_subcommand("verify", "Read all of a revision and compare every digest");
    verify.footer(verify_example);
    add_model_and_revision(verify, flags.verify.model, flags.verify.revision);
    add_store(verify, flags.verify.store);
    cli::add_rate(verify, "--origin-limit", flags.verify.origin_limit, "Ceiling on reads of the store");
    cli::add_duration(verify, "--progress-interval", flags.verify.progress_interval, "Between lines of progress");
    add_json(verify, flags);
}

void add_remove(CLI::App& app, Flags& flags)
{
    CLI::App& command = *app.add_subcommand("remove", "Delete a revision that nobody uses, and the blobs that no other shares");
    command.footer(remove_example);
    add_model_and_revision(command, flags.remove.model, flags.remove.revision);
    add_store(command, flags.remove.store);
    add_trackers(command, flags.remove.trackers);
    CLI::Option* offline = command.add_flag("--offline", flags.offline, "Ask no tracker; needs --force");
    CLI::Option* force = command.add_flag("--force", flags.force, "With --offline: it may be in use, delete it all the same");
    offline->needs(force);
    force->needs(offline);
    add_dry_run(command, flags);
    add_json(command, flags);
}

// "K=V" into a map; invalid names the flag.
Result<std::map<std::string, std::string>> pairs(const std::vector<std::string>& texts, const std::string& flag)
{
    std::map<std::string, std::string> map;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        const auto refused = [&flag](std::string_view what, const char* why) {
            return failure(Errc::invalid, std::string{"command line: "}.append(flag).append(": '").append(what).append("'").append(why));
        };
        if (equals == std::string::npos || equals == 0) return refused(text, ": expected KEY=VALUE");
        if (!map.emplace(text.substr(0, equals), text.substr(equals + 1)).second) return refused(text.substr(0, equals), " is given twice");
    }
    return map;
}

std::string from_environment(const std::string& value, const char* variable)
{
    const char* const found = std::getenv(variable);
    return value.empty() && found != nullptr ? found : value;
}

Result<Command> publish_command(Flags& flags)
{
    PublishOptions& options = flags.publish;
    BOOST_OUTCOME_TRY(annotations, pairs(flags.annotations, "--annotation"));
    options.annotations = std::move(annotations);
    const bool stays = flags.in_place || (!flags.copy && options.source.starts_with("s3://"));
    options.placement = stays ? Placement::in_place : Placement::copy;
    options.links = flags.follow_links ? Links::follow : Links::inside;
    options.suspicious = flags.strict ? Suspicious::refuse : Suspicious::warn;
    return Command{options};
}

Result<Command> serve_command(Flags& flags)
{
    ServeOptions& options = flags.serve;
    BOOST_OUTCOME_TRY(labels, pairs(flags.labels, "--label"));
    options.labels = std::move(labels);
    options.node = from_environment(options.node, "NODE_NAME");
    options.advertise = from_environment(options.advertise, "POD_IP");
    if (const auto advertised = net::check_advertised(options.advertise); !advertised)
        return failure(Errc::invalid, "environment: POD_IP: " + advertised.error().message, "correct it, or give --advertise");
    return Command{options};
}

template <typename Options>
Command with_switches(Options options, const Flags& flags)
{
    if constexpr (requires { options.dry_run; }) options.dry_run = flags.dry_run ? Dry::yes : Dry::no;
    if constexpr (requires { options.output; }) options.output = flags.json ? Output::json : Output::text;
    return options;
}

Result<Command> chosen(const std::string& name, Flags& flags)
{
    flags.remove.ask = flags.offline ? Ask::nobody : Ask::trackers;
    flags.publish.dry_run = flags.untag.dry_run = flags.dry_run ? Dry::yes : Dry::no;
    flags.publish.output = flags.json ? Output::json : Output::text;
    if (name == "publish") return publish_command(flags);
    if (name == "serve") return serve_command(flags);
    if (name == "ls") return with_switches(flags.list, flags);
    if (name == "tag") return with_switches(flags.tag, flags);
    if (name == "untag") return Command{Untag{flags.untag}};
    if (name == "verify") return with_switches(flags.verify, flags);
    return with_switches(flags.remove, flags);
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv)
{
    CLI::App app{"Publishes models into an object store and seeds them"};
    Flags flags;
    cli::add_common(app, program);
    app.require_subcommand(1);
    app.footer(examples);
    add_publish(app, flags);
    add_serve(app, flags);
    add_tag_commands(app, flags);
    add_catalog_commands(app, flags);
    add_remove(app, flags);
    const cli::Parsed parsed = cli::parse(app, program, argc, argv);
    if (!parsed.run) return {false, parsed.exit_code, {}};
    auto command = chosen(app.get_subcommands().front()->get_name(), flags);
    if (!command) return {false, cli::report(program, command.error()), {}};
    return {true, 0, std::move(command).value()};
}

}  // namespace shoal::seeder
