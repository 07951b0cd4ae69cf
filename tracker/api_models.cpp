// /api/v1/models: what is published under which name.
#include "common/model/names.hpp"
#include "tracker/api.hpp"
#include "tracker/http_answers.hpp"
#include "tracker/live_view.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace shoal::tracker {
namespace {

using nlohmann::json;

net::Response no_page()
{
    return problem(404, "Not found", "no such page below /api/v1/models");
}

}  // namespace

void Api::models(const net::Request& request, const Segments& path, const net::Respond& respond)
{
    if (path.size() == 1) {
        const auto page = page_of(request);
        if (page)
            list_models(page.value(), respond);
        else
            respond(problem(page.error()));
        return;
    }
    const std::string& name = path[1];
    if (const auto checked = model::check_model_name(name); !checked) {
        respond(problem(checked.error()));
    } else if (path.size() == 2) {
        model(name, respond);
    } else if (path.size() == 4 && path[2] == "tags") {
        tag(name, path[3], respond);
    } else if (path.size() == 4 && path[2] == "revisions") {
        const auto revision = id_from_hex<RevisionId>(path[3]);
        if (revision)
            revision_of_model(name, revision.value(), respond);
        else
            respond(problem(revision.error()));
    } else {
        respond(no_page());
    }
}

void Api::list_models(const Page& page, const net::Respond& respond)
{
    library_.models([this, page, respond](const Result<std::shared_ptr<const std::vector<std::string>>>& names) {
        if (!names) {
            respond(problem(names.error()));
            return;
        }
        std::vector<std::string> sorted = *names.value();
        std::sort(sorted.begin(), sorted.end());
        const Slice shown = slice(sorted, page);
        json models = json::array();
        for (const std::string& name : shown.keys) {
            json revisions = json::array();
            for (const auto& [revision, swarm] : board_.swarms()) {
                if (swarm.model == name) revisions.push_back(describe(revision, nullptr, {.limit = 0, .cursor = {}}));
            }
            models.push_back({{"model", name}, {"live_revisions", std::move(revisions)}});
        }
        respond(json_answer({{"models", std::move(models)}, {"next", shown.next}}));
    });
}

void Api::model(const std::string& name, const net::Respond& respond)
{
    library_.revisions(name, [this, name, respond](const Result<std::shared_ptr<const objectstore::Listing<RevisionId>>>& ids) {
        if (!ids || (ids.value()->items.empty() && ids.value()->troubles.empty())) {
            respond(problem(ids ? Error{Errc::not_found, "model: " + name + ": no revision is published", {}} : ids.error()));
            return;
        }
        library_.tags(name, [this, name, respond, ids = ids.value()](const Result<std::shared_ptr<const objectstore::Listing<objectstore::TagRecord>>>& tags) {
            respond(tags ? json_answer(describe_model(name, *ids, *tags.value())) : problem(tags.error()));
        });
    });
}

json Api::describe_model(
    const std::string& name, const objectstore::Listing<RevisionId>& ids, const objectstore::Listing<objectstore::TagRecord>& records) const
{
    json tags = json::array();
    for (const auto& record : records.items) tags.push_back({{"tag", record.tag}, {"revision", to_string(record.revision)}});
    json revisions = json::array();
    for (const RevisionId& id : ids.items) revisions.push_back(describe(id, nullptr, {.limit = 0, .cursor = {}}));
    json said{{"model", name}, {"tags", std::move(tags)}, {"revisions", std::move(revisions)}};
    for (const auto* troubles : {&ids.troubles, &records.troubles})
        for (const Error& trouble : *troubles) said["troubles"].push_back(trouble.text());
    return said;
}

void Api::tag(const std::string& name, const std::string& tag, const net::Respond& respond)
{
    if (const auto checked = model::check_tag(tag); !checked) {
        respond(problem(checked.error()));
        return;
    }
    library_.tag(name, tag, [name, tag, respond](const Result<std::shared_ptr<const RevisionId>>& revision) {
        if (revision)
            respond(json_answer({{"model", name}, {"tag", tag}, {"revision", to_string(*revision.value())}}));
        else if (revision.error().code == Errc::not_found)
            respond(problem(404, "Not found", "tag: " + name + ":" + tag + ": no such tag"));
        else
            respond(problem(revision.error()));
    });
}

void Api::revision_of_model(const std::string& name, const RevisionId& revision, const net::Respond& respond)
{
    library_.is_published(name, revision, [name, revision, respond](const Result<std::shared_ptr<const bool>>& published) {
        if (published)
            respond(json_answer({{"model", name}, {"revision", to_string(revision)}}));
        else if (published.error().code == Errc::not_found)
            respond(problem(404, "Not found", "revision: " + name + "@" + to_string(revision) + ": the model has no such revision"));
        else
            respond(problem(published.error()));
    });
}

}  // namespace shoal::tracker
