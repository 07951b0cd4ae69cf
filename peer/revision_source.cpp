#include "peer/revision_source.hpp"

#include "common/json/reader.hpp"
#include "common/net/http.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace shoal::peer {
namespace {

constexpr std::size_t max_tag_reply = 64U << 10U;
constexpr std::size_t max_layer_bytes = std::size_t{model::max_pieces} * Digest::size;
constexpr const char* from_tracker = "a tracker";

// What the trackers' 404 says, with what was asked for in front.
Error not_found_of(Error error, const std::string& what)
{
    if (error.code == Errc::not_found)
        error = {Errc::not_found, "no such " + what + ": " + error.message, "check the name, or publish it with shoal-seeder publish"};
    else if (error.code != Errc::integrity)
        error.message = "cannot get " + what + ": " + error.message;
    return error;
}

std::string path_of(const RevisionId& revision, const char* part)
{
    return "/api/v1/revisions/" + to_hex(revision) + "/" + part;
}

void get_layers(
    control::Client& trackers, const std::shared_ptr<std::optional<RevisionData>>& data, Duration left, const std::function<void(Result<RevisionData>)>& done)
{
    const auto accept = [data](const std::string& layers) { return prove_layers(**data, layers, from_tracker); };
    trackers.get({path_of((*data)->revision, "layers"), max_layer_bytes, std::max<Duration>(left, std::chrono::seconds{1}), accept},
        [data, done](const Result<std::string>& layers) {
            if (!layers) return done(failure(not_found_of(layers.error(), "piece layers of " + to_string((*data)->revision))));
            done(std::move(**data));
        });
}

}  // namespace

Result<RevisionId> decode_tag_reply(std::string_view body)
{
    if (const auto record = json::parse(body)) {
        if (auto revision = parse_revision(json::Reader{record.value()}.text("revision"))) return revision;
    }
    return failure(Errc::malformed, "tracker's answer names no revision");
}

void resolve_tag(control::Client& trackers, const std::string& model, const std::string& tag, Duration within, std::function<void(Result<RevisionId>)> done)
{
    const std::string target = "/api/v1/models/" + net::percent_encode(model) + "/tags/" + net::percent_encode(tag);
    const auto accept = [](const std::string& body) -> Result<void> {
        BOOST_OUTCOME_TRYV(decode_tag_reply(body));
        return success();
    };
    trackers.get({target, max_tag_reply, within, accept}, [model, tag, done = std::move(done)](Result<std::string> body) {
        if (body) return done(decode_tag_reply(body.value()));
        done(failure(not_found_of(body.error(), "tag " + tag + " of model " + model)));
    });
}

void get_revision(
    control::Client& trackers, const std::string& model, const RevisionId& revision, Duration within, std::function<void(Result<RevisionData>)> done)
{
    const auto data = std::make_shared<std::optional<RevisionData>>();
    const auto accept = [data, model, revision](const std::string& body) -> Result<void> {
        BOOST_OUTCOME_TRY(proven, prove_manifest(revision, model, body, from_tracker));
        data->emplace(std::move(proven));
        return success();
    };
    const TimePoint end = Clock::now() + within;
    trackers.get({path_of(revision, "manifest"), model::max_manifest_bytes, within, accept},
        [&trackers, model, revision, end, data, done = std::move(done)](const Result<std::string>& body) {
            if (!body) return done(failure(not_found_of(body.error(), "revision " + to_string(revision) + " of model " + model)));
            if ((*data)->layout->pieces() > 0) return get_layers(trackers, data, end - Clock::now(), done);
            (*data)->layers = std::make_shared<const model::Layers>();
            done(std::move(**data));
        });
}

}  // namespace shoal::peer
