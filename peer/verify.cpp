#include "peer/verify.hpp"

#include "common/model/names.hpp"
#include "peer/destination_scan.hpp"
#include "peer/overlap.hpp"
#include "peer/workspace.hpp"

#include <filesystem>
#include <map>

namespace shoal::peer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 3;

// Directories with a marker below `root`, without looking into them further; and those whose marker a fetch or repair took away and did not put back.
Result<std::vector<Site>> sites_below(const Path& root)
{
    std::vector<Site> sites;
    std::error_code error;
    for (fs::recursive_directory_iterator at{root, error}, end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (!at->is_directory(ignored) || at->path().filename() == ".shoal") continue;
        if (!fs::exists(at->path() / marker_name, ignored)) continue;
        sites.push_back(site_in_root(root, at->path().lexically_relative(root).string()));
        at.disable_recursion_pending();
    }
    if (error) return failure(system_error(error.value(), "cannot list", root.string()));
    for (const Path& claimed : claimed_by_way_of(root / ".shoal")) {
        Site site = site_in_root(root, claimed.lexically_relative(root).string());
        std::error_code ignored;
        if (!fs::exists(site.marker(), ignored) && fs::exists(site.earlier(), ignored)) sites.push_back(std::move(site));
    }
    if (sites.empty())
        return failure(Errc::not_found, "nothing to verify: " + root.string() + ": no directory in it has a " + marker_name, "name --root or --dest");
    return sites;
}

Result<std::vector<Site>> sites_of(const VerifyOptions& options)
{
    if (!options.dest.empty()) return std::vector<Site>{site_at(options.dest)};
    if (!options.model.empty()) return std::vector<Site>{site_in_root(options.root, options.model)};
    return sites_below(options.root);
}

// The marker; where there is none, what a repair that was broken off left of it.
Result<DestinationFacts> look_at_records(const Site& site)
{
    BOOST_OUTCOME_TRY(facts, look_at_marker(site));
    if (facts.marker || !facts.damage.empty()) return std::move(facts);
    return look_at(site);
}

Result<Marker> marker_of(const Site& site, const DestinationFacts& facts, const VerifyOptions& options)
{
    if (!facts.damage.empty())
        return failure(
            Errc::integrity, "marker is damaged: " + site.marker().string() + ": " + facts.damage, "fetch the revision again, which checks what is there");
    const auto& record = facts.marker ? facts.marker : facts.earlier;
    if (!record) return failure(Errc::not_found, "nothing to verify: " + site.directory.string() + ": it has no " + marker_name, "fetch the revision first");
    Marker marker = record->marker;
    if (!options.model.empty() && marker.model != options.model)
        return failure(Errc::not_found, "model is not there: " + site.directory.string() + ": expected " + options.model + ", found " + marker.model);
    if (options.revision && marker.revision != *options.revision)
        return failure(Errc::not_found,
            "revision is not there: " + site.directory.string() + ": expected " + to_string(*options.revision) + ", found " + to_string(marker.revision));
    return marker;
}

Result<Verified> verify_one(const Site& site, const VerifyOptions& options, const std::atomic<bool>& cancelled)
{
    BOOST_OUTCOME_TRY(facts, look_at_records(site));
    BOOST_OUTCOME_TRY(marker, marker_of(site, facts, options));
    BOOST_OUTCOME_TRY(data, prove_manifest(marker.revision, marker.model, marker.manifest, site.marker().string()));
    BOOST_OUTCOME_TRYV(prove_layers(data, marker.layers, site.marker().string()));
    Verified verified{site, std::move(marker), {}, {}, !facts.marker};
    std::map<std::string_view, std::size_t> index;
    for (const model::File& file : data.manifest.files) {
        index.emplace(file.path, verified.paths.size());
        verified.paths.push_back(file.path);
    }
    std::vector<bool> which(data.manifest.files.size());
    for (const MarkedFile& file : verified.marker.files)
        if (const auto found = index.find(file.path); found != index.end()) which[found->second] = true;
    BOOST_OUTCOME_TRY(faults, check_content(site, data, which, cancelled));
    verified.faults = std::move(faults);
    return verified;
}

}  // namespace

Result<std::vector<Verified>> verify_directories(const VerifyOptions& options, const std::atomic<bool>& cancelled)
{
    BOOST_OUTCOME_TRY(sites, sites_of(options));
    std::vector<Verified> all;
    for (const Site& site : sites) {
        BOOST_OUTCOME_TRY(verified, verify_one(site, options, cancelled));
        all.push_back(std::move(verified));
    }
    return all;
}

std::string text_of(const Verified& verified, const Fault& fault)
{
    const std::string last = std::to_string(fault.length == 0 ? fault.offset : fault.offset + fault.length - 1);
    return model::printable(verified.site.final(verified.paths[fault.file.value]).string()) + " bytes " + std::to_string(fault.offset) + "-" + last +
           ": expected " + fault.expected + ", found " + fault.found;
}

Result<void> judge(const std::vector<Verified>& all)
{
    std::string named;
    std::size_t count = 0;
    for (const Verified& verified : all) {
        if (verified.broken_off && count++ < most_named)
            named += (named.empty() ? "" : "; ") + verified.site.directory.string() + ": a repair of it was broken off, its " + marker_name + " is away";
        for (const Fault& fault : verified.faults)
            if (count++ < most_named) named += (named.empty() ? "" : "; ") + text_of(verified, fault);
    }
    if (count == 0) return success();
    if (count > most_named) named += "; and " + std::to_string(count - most_named) + " more";
    return failure(Errc::integrity, "content is not the revision's: " + named, "run shoal-peer verify --repair");
}

}  // namespace shoal::peer
