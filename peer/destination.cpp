#include "peer/destination.hpp"

#include "common/model/names.hpp"

#include <algorithm>
#include <array>

namespace shoal::peer {
namespace {

constexpr std::size_t most_named = 5;

std::array<const Record*, 3> records(const DestinationFacts& facts)
{
    const auto pointer = [](const std::optional<Record>& record) { return record ? &*record : nullptr; };
    return {pointer(facts.marker), pointer(facts.earlier), pointer(facts.intent)};
}

std::string named(const std::vector<std::string>& paths)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(paths.size(), most_named); ++i) text += (i == 0 ? "" : ", ") + model::printable(paths[i]);
    if (paths.size() > most_named) text += " and " + std::to_string(paths.size() - most_named) + " more";
    return text;
}

// Files and other things at the destination that neither a record nor (where the marker is damaged) the manifest explains.
std::vector<std::string> foreign(const DestinationFacts& facts, const model::Manifest* manifest)
{
    std::set<std::string> ours = recorded_paths(facts);
    if (!facts.damage.empty() && manifest != nullptr)
        for (const model::File& file : manifest->files) ours.insert(file.path);
    std::vector<std::string> all = facts.odd;
    std::set_difference(facts.present.begin(), facts.present.end(), ours.begin(), ours.end(), std::back_inserter(all));
    return all;
}

bool covers(const Ask& ask, const Record& record, const model::Manifest* manifest)
{
    if (record.marker.revision != ask.revision) return false;
    if (ask.include.empty() && ask.exclude.empty()) return record.marker.whole && record.all_intact();
    if (manifest == nullptr) return false;
    const auto wanted = wanted_files(*manifest, ask.include, ask.exclude);
    if (!wanted) return false;
    for (std::size_t i = 0; i < manifest->files.size(); ++i)
        if (wanted.value()[i] && !record.intact.contains(manifest->files[i].path)) return false;
    return true;
}

// A record of a revision that is not the asked one.
const Marker* other_revision(const Ask& ask, const DestinationFacts& facts)
{
    for (const Record* record : records(facts))
        if (record != nullptr && record->marker.revision != ask.revision) return &record->marker;
    return nullptr;
}

// A placement of the asked revision was broken off: leave to replace had been given, and half of it is done.
bool half_placed(const Ask& ask, const DestinationFacts& facts)
{
    return facts.intent && facts.intent->marker.revision == ask.revision;
}

Error refuse_foreign(const std::vector<std::string>& paths)
{
    return {Errc::not_allowed, "destination holds files that are not ours: " + named(paths), "remove them, or name another destination"};
}

}  // namespace

std::set<std::string> recorded_paths(const DestinationFacts& facts)
{
    std::set<std::string> paths;
    for (const Record* record : records(facts)) {
        if (record == nullptr) continue;
        for (const MarkedFile& file : record->marker.files) paths.insert(file.path);
    }
    return paths;
}

bool held_as_recorded(const Ask& ask, const DestinationFacts& facts, const std::string& path)
{
    if (ask.check_content) return false;
    const auto all = records(facts);
    return std::any_of(all.begin(), all.end(),
        [&](const Record* record) { return record != nullptr && record->marker.revision == ask.revision && record->intact.contains(path); });
}

Result<std::vector<bool>> wanted_files(const model::Manifest& manifest, const std::vector<std::string>& include, const std::vector<std::string>& exclude)
{
    const auto any = [](const std::vector<std::string>& globs, const std::string& path) {
        return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return model::glob_matches(glob, path); });
    };
    std::vector<bool> wanted;
    wanted.reserve(manifest.files.size());
    for (const model::File& file : manifest.files) wanted.push_back((include.empty() || any(include, file.path)) && !any(exclude, file.path));
    if (std::find(wanted.begin(), wanted.end(), true) == wanted.end())
        return failure(Errc::not_found,
            "nothing to fetch: " + manifest.model + ": the filters leave none of its " + std::to_string(manifest.files.size()) + " files",
            "check --include and --exclude");
    return wanted;
}

Result<Decision> decide(const Ask& ask, const DestinationFacts& facts, const model::Manifest* manifest)
{
    if (!facts.other_models.empty())
        return failure(Errc::not_allowed,
            "destination overlaps another fetch's directory: " + ask.model + " in " + facts.directory + ": found " + named(facts.other_models),
            "name another --root or --dest; or end that fetch, or remove its .shoal if no fetch uses it");
    for (const Record* record : records(facts))
        if (record != nullptr && record->marker.model != ask.model)
            return failure(
                Errc::not_allowed, "destination holds another model: expected " + ask.model + ", found " + record->marker.model, "name another destination");
    if (!ask.check_content && facts.marker && covers(ask, *facts.marker, manifest)) return Decision{Verdict::done, false};
    if (!facts.damage.empty() && manifest == nullptr) return Decision{Verdict::fetch, true};
    if (const Marker* other = other_revision(ask, facts); other != nullptr && !ask.replace && !half_placed(ask, facts))
        return failure(Errc::not_allowed,
            "destination holds another revision of " + ask.model + ": expected " + to_string(ask.revision) + ", found " + to_string(other->revision),
            "use --replace to replace it");
    if (const auto paths = foreign(facts, manifest); !paths.empty()) return failure(refuse_foreign(paths));
    if (other_revision(ask, facts) != nullptr) return Decision{Verdict::replace, true};
    const bool broken = facts.marker && !facts.marker->all_intact();
    return Decision{Verdict::fetch, broken || ask.check_content};
}

}  // namespace shoal::peer
