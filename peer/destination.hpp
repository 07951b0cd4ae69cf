// What to do about a destination: it is done, to be filled, completed, replaced, or not ours to touch. Pure; any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/model/manifest.hpp"
#include "peer/marker.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shoal::peer {

// What is wanted of a fetch.
struct Ask {
    std::string model;
    RevisionId revision;
    std::string tag;
    std::vector<std::string> include, exclude;
    bool replace = false;
    bool check_content = false;  // a repair: recorded states are not believed
};

// A marker, and which of its files are in place with the recorded size, mtime and inode.
struct Record {
    Marker marker;
    std::set<std::string> intact;
    [[nodiscard]] bool all_intact() const { return intact.size() == marker.files.size(); }
};

// What was found. The records: the marker in place, the one that was taken away because it did not hold any more, the one that was about to be put in place.
struct DestinationFacts {
    std::optional<Record> marker, earlier, intent;
    std::string damage;                     // why the marker in place does not decode; empty: it does, or there is none
    std::set<std::string> present;          // paths of files that are there
    std::vector<std::string> odd;           // links, sockets and so on
    std::vector<std::string> other_models;  // directories above or below, or the same by another way, that other fetches have or fill
    std::string directory;                  // the destination, for messages
};

enum class Verdict { done, fetch, replace };

struct Decision {
    Verdict verdict = Verdict::fetch;
    bool take_marker_away = false;  // what it says is not so, or soon will not be
};

// The wanted files by index, as the globs say: include first, then exclude. Fails with not_found if none is left.
Result<std::vector<bool>> wanted_files(const model::Manifest& manifest, const std::vector<std::string>& include, const std::vector<std::string>& exclude);

// Refuses with not_allowed, naming files or digests. `manifest` of the asked revision where it is known (a marker of that revision carries it); without it a
// damaged marker is not judged yet: ask again with it.
Result<Decision> decide(const Ask& ask, const DestinationFacts& facts, const model::Manifest* manifest);

// Of the asked revision, in place and as recorded when they were verified.
bool held_as_recorded(const Ask& ask, const DestinationFacts& facts, const std::string& path);

// Files that some record calls ours, whatever their revision.
std::set<std::string> recorded_paths(const DestinationFacts& facts);

}  // namespace shoal::peer
