#include "peer/revision_source.hpp"

#include "common/net/http.hpp"

#include <nlohmann/json.hpp>

#include <memory>

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
    else
        error.message = "cannot get " + what + ": " + error.message;
    return error;
}

std::string path_of(const RevisionId& revision, const char* part)
{
    return "/api/v1/revisions/" + to_hex(revision) + "/" + part;
}

}  // namespace

Result<RevisionId> decode_tag_reply(std::string_view body)
{
    const auto json = nlohmann::json::parse(body, nullptr, false);
    if (json.is_object() && json.contains("revision") && json["revision"].is_string()) {
        if (auto revision = parse_revision(json["revision"].get_ref<const std::string&>())) return revision;
    }
    return failure(Errc::malformed, "tracker's answer names no revision");
}

void resolve_tag(control::Client& trackers, const std::string& model, const std::string& tag, Duration within, std::function<void(Result<RevisionId>)> done)
{
    const std::string target = "/api/v1/models/" + net::percent_encode(model) + "/tags/" + net::percent_encode(tag);
    trackers.get(target, max_tag_reply, within, [model, tag, done = std::move(done)](Result<std::string> body) {
        if (body) return done(decode_tag_reply(body.value()));
        done(failure(not_found_of(body.error(), "tag " + tag + " of model " + model)));
    });
}

void get_revision(
    control::Client& trackers, const std::string& model, const RevisionId& revision, Duration within, std::function<void(Result<RevisionData>)> done)
{
    const TimePoint end = Clock::now() + within;
    trackers.get(
        path_of(revision, "manifest"), model::max_manifest_bytes, within, [&trackers, model, revision, end, done = std::move(done)](Result<std::string> body) {
            if (!body) return done(failure(not_found_of(body.error(), "revision " + to_string(revision) + " of model " + model)));
            auto data = prove_manifest(revision, model, std::move(body).value(), from_tracker);
            if (!data) return done(failure(data.error()));
            auto shared = std::make_shared<RevisionData>(std::move(data).value());
            if (shared->layout->pieces() == 0) {
                shared->layers = std::make_shared<const model::Layers>();
                return done(std::move(*shared));
            }
            const Duration left = std::max<Duration>(end - Clock::now(), std::chrono::seconds{1});
            trackers.get(path_of(revision, "layers"), max_layer_bytes, left, [shared, done](Result<std::string> layers) {
                if (!layers) return done(failure(not_found_of(layers.error(), "piece layers of " + to_string(shared->revision))));
                const auto proven = prove_layers(*shared, std::move(layers).value(), from_tracker);
                if (!proven) return done(failure(proven.error()));
                done(std::move(*shared));
            });
        });
}

}  // namespace shoal::peer
