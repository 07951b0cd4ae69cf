#include "seeder/removal.hpp"

#include "common/model/layout.hpp"
#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace shoal::seeder {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_named = 10;

Error incomplete(const std::string& tracker, const std::string& why)
{
    return {Errc::timed_out, "no complete picture of who uses the revision: tracker " + tracker + ": " + why,
        "try again later, or go without by --offline --force"};
}

std::string text_at(const Json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

// "node-7 (fetching)"
std::string who(const Json& node)
{
    std::string name = text_at(node, "node");
    if (name.empty()) name = text_at(node, "peer");
    return model::printable(name) + " (" + model::printable(text_at(node, "state")) + ")";
}

std::string list_of(const std::vector<std::string>& users)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(users.size(), max_named); ++i) text += (i == 0 ? "" : ", ") + users[i];
    if (users.size() > max_named) text += " and " + std::to_string(users.size() - max_named) + " more";
    return text;
}

bool needs_it(const Json& node)
{
    const std::string state = text_at(node, "state");
    return state == "wanted" || state == "fetching";
}

}  // namespace

UnsharedBlobs::UnsharedBlobs(const model::Manifest& removed)
{
    const model::Layout layout{removed};
    for (const model::SwarmFile& file : layout.files()) roots_.insert(file.pieces_root);
}

void UnsharedBlobs::keep(const model::Manifest& other)
{
    const model::Layout layout{other};
    for (const model::SwarmFile& file : layout.files()) roots_.erase(file.pieces_root);
}

bool UnsharedBlobs::concerns(const model::Manifest& other) const
{
    const model::Layout layout{other};
    return std::any_of(layout.files().begin(), layout.files().end(), [&](const model::SwarmFile& file) { return roots_.contains(file.pieces_root); });
}

Result<void> judge_answer(std::string_view body, const std::string& tracker, const std::string& revision)
{
    const Json answer = Json::parse(body, nullptr, false);
    if (!answer.is_object() || !answer.contains("nodes") || !answer["nodes"].is_array()) return failure(incomplete(tracker, "its answer is not understood"));
    const auto complete = answer.find("complete_picture");
    if (complete == answer.end() || !complete->is_boolean()) return failure(incomplete(tracker, "its answer is not understood"));
    if (*complete != true) return failure(incomplete(tracker, "it has just started"));
    std::vector<std::string> users;
    for (const Json& node : answer["nodes"]) {
        if (!node.is_object()) return failure(incomplete(tracker, "its answer is not understood"));
        if (needs_it(node)) users.push_back(who(node));
    }
    const auto leases = answer.find("leases");
    if (leases != answer.end() && !leases->empty()) users.emplace_back("a lease");
    if (users.empty()) return success();
    return failure(
        Errc::not_allowed, "revision is in use: " + revision + ": tracker " + tracker + " knows of " + list_of(users), "remove it when they are done");
}

}  // namespace shoal::seeder
