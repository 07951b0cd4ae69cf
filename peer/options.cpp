#include "peer/options.hpp"

#include "common/core/quantity.hpp"
#include "common/model/names.hpp"
#include "common/net/address.hpp"
#include "common/objectstore/object_store.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace shoal::peer {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_interval{100};
constexpr milliseconds json_interval{1000};

// What the flags say, before it is checked. Lives as long as the parser.
struct Flags {
    std::string model, revision, tag, root = "/models", dest, linger = "auto", page_cache = "auto", http, store;
    std::string advertise, node, zone, rack, workload;
    std::vector<std::string> trackers{control::default_tracker}, listen{"0.0.0.0:6881", "[::]:6881"}, include, exclude, labels, pairs;
    std::uint64_t max_bytes = 0, download_limit = 0, upload_limit = 0;
    milliseconds timeout = std::chrono::hours{1}, stall_timeout = std::chrono::seconds{60}, progress_interval = std::chrono::seconds{10};
    bool replace = false, repair = false, json = false, origin_fallback = false;
};

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

std::string host_name()
{
    std::string name(256, '\0');
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    name.resize(name.find('\0'));
    return name;
}

void add_network(CLI::App& app, Flags& flags)
{
    CLI::Option* tracker = cli::add_list(app, "--tracker", flags.trackers, "URL of a tracker; may be repeated");
    cli::add_check(tracker->option_text("URL (default " + flags.trackers.front() + ")"), net::check_tracker);
    CLI::Option* listen = cli::add_list(app, "--listen", flags.listen, "BitTorrent address; another port is taken when that one is in use");
    cli::add_check(listen->option_text("ADDR:PORT (default 0.0.0.0:6881,[::]:6881)"), net::check_peer_listen);
    cli::add_check(app.add_option("--http", flags.http, "Serve /metrics, /livez and /readyz there")->option_text("ADDR:PORT"), net::check_http);
    CLI::Option* advertise = app.add_option("--advertise", flags.advertise, "Address that others dial (default POD_IP, else as the tracker sees it)");
    cli::add_check(advertise->option_text("ADDR[:PORT]"), net::check_advertised);
    app.add_option("--node", flags.node, "Name of the machine (default NODE_NAME, else the hostname)")->option_text("NAME");
    app.add_option("--zone", flags.zone, "Zone of the node")->option_text("ZONE");
    app.add_option("--rack", flags.rack, "Rack of the node")->option_text("RACK");
    cli::add_list(app, "--label", flags.labels, "Label of the node; may be repeated")->option_text("K=V");
    app.add_option("--workload", flags.workload, "Job or Deployment for which this runs")->option_text("NAME");
    cli::add_duration(app, "--timeout", flags.timeout, "Give up after this time");
    cli::add_duration(app, "--stall-timeout", flags.stall_timeout, "Give up after this time without progress");
    cli::add_rate(app, "--download-limit", flags.download_limit, "Receive no faster");
    cli::add_rate(app, "--upload-limit", flags.upload_limit, "Send no faster");
    app.add_option("--page-cache", flags.page_cache, "Keep what is written in the page cache, or drop it")
        ->option_text("auto|keep|drop (default auto)")
        ->check(CLI::IsMember({"auto", "keep", "drop"}));
    cli::add_duration(app, "--progress-interval", flags.progress_interval, "How often progress is told where there is no terminal");
    app.add_flag("--json", flags.json, "Events on stdout, one JSON object a line");
}

CLI::App* add_fetch(CLI::App& app, Flags& flags)
{
    CLI::App* fetch = app.add_subcommand("fetch", "Fetch a revision into a directory, verified, then exit");
    fetch->add_option("pairs", flags.pairs, "SRC DEST, once or more: SRC is shoal://NAME@sha256:.. or shoal://NAME:TAG, DEST the directory itself")
        ->option_text("[SRC DEST]...");
    fetch->add_option("--model", flags.model, "Name of the model")->option_text("NAME");
    CLI::Option* revision = fetch->add_option("--revision", flags.revision, "Revision to fetch")->option_text("sha256:..");
    fetch->add_option("--tag", flags.tag, "Tag to fetch, resolved once")->option_text("TAG")->excludes(revision);
    CLI::Option* root = fetch->add_option("--root", flags.root, "Files land in ROOT/NAME")->option_text("DIR (default /models)");
    fetch->add_option("--dest", flags.dest, "Files land in this directory itself")->option_text("DIR")->excludes(root);
    cli::add_size(*fetch, "--max-bytes", flags.max_bytes, "Refuse what is larger");
    fetch->add_option("--include", flags.include, "Only files that match; may be repeated")->option_text("GLOB")->allow_extra_args(false);
    fetch->add_option("--exclude", flags.exclude, "No files that match; may be repeated")->option_text("GLOB")->allow_extra_args(false);
    fetch->add_option("--linger", flags.linger, "How long to stay for others once ready; auto: while somebody needs us, 5 s at most")
        ->option_text("auto|DURATION (default auto)");
    fetch->add_flag("--replace", flags.replace, "Replace another revision that is there");
    fetch->add_flag("--allow-origin-fallback", flags.origin_fallback, "Read the object store itself where the swarm gives nothing");
    CLI::Option* store = fetch->add_option("--store", flags.store, "Object store to read then, file:///directory or s3://bucket[/prefix]");
    cli::add_check(store->option_text("URL"), objectstore::check_url);
    add_network(*fetch, flags);
    fetch->footer("Examples:\n"
                  "  shoal-peer fetch --model llama --revision sha256:...                      into /models/llama\n"
                  "  shoal-peer fetch --model llama --tag prod --dest /mnt/llama --json\n"
                  "  shoal-peer fetch --model llama --revision sha256:... --allow-origin-fallback --store s3://bucket/shoal\n"
                  "  shoal-peer fetch shoal://llama@sha256:... /mnt/models");
    return fetch;
}

CLI::App* add_verify(CLI::App& app, Flags& flags)
{
    CLI::App* verify = app.add_subcommand("verify", "Read fetched directories and compare every byte with the revision");
    verify->add_option("model", flags.model, "Name of the model; without it all below --root")->option_text("NAME");
    verify->add_option("revision", flags.revision, "Revision that is expected there")->option_text("sha256:..");
    CLI::Option* root = verify->add_option("--root", flags.root, "Where fetch put ROOT/NAME")->option_text("DIR (default /models)");
    verify->add_option("--dest", flags.dest, "The directory itself")->option_text("DIR")->excludes(root);
    verify->add_flag("--repair", flags.repair, "Fetch the wrong pieces");
    verify->option_defaults()->group("With --repair");
    add_network(*verify, flags);
    verify->get_option("--json")->group("Options");
    verify->footer("Examples:\n"
                   "  shoal-peer verify --dest /mnt/llama\n"
                   "  shoal-peer verify llama sha256:... --repair --tracker http://tracker:8080");
    return verify;
}

Error usage(std::string message)
{
    return {Errc::invalid, std::move(message), "see 'shoal-peer --help'"};
}

Result<std::map<std::string, std::string>> read_labels(const std::vector<std::string>& texts)
{
    std::map<std::string, std::string> labels;
    for (const std::string& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) return failure(usage("--label: '" + text + "': expected K=V"));
        labels[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return labels;
}

std::string first_of(const std::string& flag, const std::string& otherwise)
{
    return flag.empty() ? otherwise : flag;
}

Result<Presence> presence_from(const Flags& flags)
{
    Presence presence;
    BOOST_OUTCOME_TRY(labels, read_labels(flags.labels));
    presence.trackers = flags.trackers;
    presence.listen = flags.listen;
    presence.advertise = first_of(flags.advertise, variable("POD_IP"));
    if (const auto passed = net::check_advertised(presence.advertise); !passed)
        return failure(Errc::invalid, "environment: POD_IP: " + passed.error().message, "correct it, or give --advertise");
    presence.node = first_of(flags.node, first_of(variable("NODE_NAME"), host_name()));
    presence.zone = flags.zone;
    presence.rack = flags.rack;
    presence.labels = std::move(labels);
    presence.workload = {variable("POD_NAMESPACE"), variable("POD_NAME"), variable("POD_UID"), flags.workload};
    presence.download_limit = flags.download_limit;
    presence.upload_limit = flags.upload_limit;
    return presence;
}

Result<FetchRequest> request_from(const Flags& flags, bool max_bytes_given)
{
    FetchRequest request;
    request.ask.replace = flags.replace;
    request.ask.include = flags.include;
    request.ask.exclude = flags.exclude;
    request.timeout = flags.timeout;
    request.stall_timeout = flags.stall_timeout;
    if (flags.origin_fallback && flags.store.empty()) return failure(usage("--allow-origin-fallback: say which store, with --store URL"));
    if (!flags.origin_fallback && !flags.store.empty()) return failure(usage("--store: a fetch reads it only with --allow-origin-fallback"));
    request.store = flags.store;
    if (max_bytes_given && flags.max_bytes == 0) return failure(usage("--max-bytes: 0: expected at least 1"));
    request.max_bytes = flags.max_bytes;
    request.page_cache = flags.page_cache == "keep" ? PageCache::keep : flags.page_cache == "drop" ? PageCache::drop : PageCache::automatic;
    request.tick = std::clamp<milliseconds>(flags.progress_interval, milliseconds{50}, milliseconds{500});
    if (flags.linger == "auto") return request;
    const auto linger = parse_duration(flags.linger);
    if (!linger) return failure(usage("--linger: " + linger.error().message + ", or auto"));
    request.linger = linger.value();
    return request;
}

Result<void> name_it(FetchRequest& request, const std::string& model, const std::string& revision, const std::string& tag)
{
    BOOST_OUTCOME_TRYV(model::check_model_name(model));
    request.ask.model = model;
    request.revision_known = tag.empty();
    if (!tag.empty()) {
        request.ask.tag = tag;
        return model::check_tag(tag);
    }
    BOOST_OUTCOME_TRY(parsed, parse_revision(revision));
    request.ask.revision = parsed;
    return success();
}

// shoal://NAME@sha256:.. or shoal://NAME:TAG
Result<void> name_by_source(FetchRequest& request, const std::string& source)
{
    static constexpr std::string_view scheme = "shoal://";
    const std::string rest = source.starts_with(scheme) ? source.substr(scheme.size()) : std::string{};
    if (const auto at = rest.find('@'); at != std::string::npos) return name_it(request, rest.substr(0, at), rest.substr(at + 1), {});
    const auto colon = rest.rfind(':');
    if (colon == std::string::npos || colon + 1 == rest.size())
        return failure(usage("source: '" + source + "': expected shoal://NAME@sha256:.. or shoal://NAME:TAG"));
    return name_it(request, rest.substr(0, colon), {}, rest.substr(colon + 1));
}

// Absolute, without doubled or trailing slashes, so that messages and the ready event show one form. ".." may follow a link: only the filesystem knows.
Path clean(const std::string& text)
{
    std::error_code ignored;
    const Path absolute = std::filesystem::absolute(text, ignored);
    const bool climbs = std::find(absolute.begin(), absolute.end(), "..") != absolute.end();
    const Path path = climbs ? std::filesystem::weakly_canonical(absolute, ignored) : absolute.lexically_normal();
    return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

Result<std::vector<FetchRequest>> requests_from(const CLI::App& fetch, const Flags& flags)
{
    BOOST_OUTCOME_TRY(common, request_from(flags, fetch.count("--max-bytes") > 0));
    std::vector<FetchRequest> requests;
    if (flags.pairs.empty()) {
        if (fetch.count("--model") == 0) return failure(usage("--model is missing"));
        if (fetch.count("--revision") + fetch.count("--tag") == 0) return failure(usage("--revision or --tag is missing"));
        BOOST_OUTCOME_TRYV(name_it(common, flags.model, flags.revision, fetch.count("--tag") > 0 ? flags.tag : std::string{}));
        if (fetch.count("--dest") > 0 && flags.dest.empty()) return failure(usage("--dest: is empty"));
        common.site = flags.dest.empty() ? site_in_root(clean(flags.root), flags.model) : site_at(clean(flags.dest));
        requests.push_back(std::move(common));
        return requests;
    }
    for (const char* flag : {"--model", "--revision", "--tag", "--root", "--dest"})
        if (fetch.count(flag) > 0) return failure(usage(std::string{"SRC DEST and "} + flag + ": give one or the other"));
    if (flags.pairs.size() % 2 != 0) return failure(usage("SRC without DEST: '" + flags.pairs.back() + "'"));
    for (std::size_t i = 0; i < flags.pairs.size(); i += 2) {
        FetchRequest request = common;
        BOOST_OUTCOME_TRYV(name_by_source(request, flags.pairs[i]));
        request.site = site_at(clean(flags.pairs[i + 1]));
        requests.push_back(std::move(request));
    }
    return requests;
}

Result<FetchOptions> fetch_from(const CLI::App& command, const Flags& flags)
{
    FetchOptions options;
    BOOST_OUTCOME_TRY(presence, presence_from(flags));
    options.presence = std::move(presence);
    options.output = flags.json ? Output::json : Output::text;
    const bool said = command.count("--progress-interval") > 0;
    options.progress_interval = std::max(flags.json && !said ? json_interval : flags.progress_interval, shortest_interval);
    options.http = flags.http;
    return options;
}

Result<VerifyOptions> verify_from(const CLI::App& command, const Flags& flags)
{
    VerifyOptions options;
    BOOST_OUTCOME_TRY(fetch, fetch_from(command, flags));
    BOOST_OUTCOME_TRY(request, request_from(flags, false));
    options.fetch = std::move(fetch);
    options.request = std::move(request);
    options.repair = flags.repair;
    if (command.count("--dest") > 0)
        options.dest = clean(flags.dest);
    else
        options.root = clean(flags.root);
    if (command.count("model") > 0) {
        BOOST_OUTCOME_TRYV(model::check_model_name(flags.model));
    }
    options.model = flags.model;
    if (command.count("revision") > 0) {
        BOOST_OUTCOME_TRY(revision, parse_revision(flags.revision));
        options.revision = revision;
    }
    return options;
}

Result<void> read(const CLI::App& fetch, const CLI::App& verify, const Flags& flags, Options& options)
{
    if (fetch.parsed()) {
        BOOST_OUTCOME_TRY(common, fetch_from(fetch, flags));
        BOOST_OUTCOME_TRY(requests, requests_from(fetch, flags));
        common.requests = std::move(requests);
        options.fetch = std::move(common);
    }
    if (verify.parsed()) {
        BOOST_OUTCOME_TRY(checked, verify_from(verify, flags));
        options.verify = std::move(checked);
    }
    return success();
}

}  // namespace

cli::Parsed parse_options(int argc, char** argv, Options& options)
{
    CLI::App app{"Fetches models from the swarm, verified.", program};
    Flags flags;
    app.require_subcommand(1);
    const CLI::App* fetch = add_fetch(app, flags);
    const CLI::App* verify = add_verify(app, flags);
    cli::add_common(app, program);
    const cli::Parsed parsed = cli::parse(app, program, argc, argv);
    if (!parsed.run) return parsed;
    if (const auto done = read(*fetch, *verify, flags, options); !done) return {false, cli::report(program, done.error())};
    return parsed;
}

}  // namespace shoal::peer
