#include "peer/survey.hpp"

#include "peer/destination_scan.hpp"
#include "peer/process_identity.hpp"
#include "peer/workspace.hpp"

#include <filesystem>

namespace shoal::peer {
namespace {

std::uint64_t wanted_bytes(const model::Manifest& manifest, const Ask& ask)
{
    const auto wanted = wanted_files(manifest, ask.include, ask.exclude);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; wanted && i < manifest.files.size(); ++i)
        if (wanted.value()[i]) bytes += manifest.files[i].size;
    return bytes;
}

bool filtered(const Ask& ask)
{
    return !ask.include.empty() || !ask.exclude.empty();
}

// Whether the marker alone says that it is done. Failures and refusals are left to the full look.
std::optional<Survey> done_by_marker(const Site& site, const Ask& ask, const RevisionData* known)
{
    const auto facts = look_at_marker(site);
    if (!facts || !facts.value().marker || facts.value().marker->marker.revision != ask.revision) return std::nullopt;
    std::optional<RevisionData> data;
    if (filtered(ask) && known == nullptr) data = data_in_records(facts.value(), ask.revision, ask.model);
    const model::Manifest* manifest = known != nullptr ? &known->manifest : data ? &data->manifest : nullptr;
    const auto decision = decide(ask, facts.value(), manifest);
    if (!decision || decision.value().verdict != Verdict::done) return std::nullopt;
    return Survey{true, filtered(ask) ? wanted_bytes(*manifest, ask) : facts.value().marker->marker.bytes, std::nullopt};
}

}  // namespace

Result<Survey> survey(const Site& site, const Ask& ask)
{
    if (auto done = done_by_marker(site, ask, nullptr)) {
        tidy_up_after(site);
        return std::move(*done);
    }
    BOOST_OUTCOME_TRY(facts, look_at(site));
    Survey found{false, 0, data_in_records(facts, ask.revision, ask.model)};
    BOOST_OUTCOME_TRY(decide(ask, facts, found.data ? &found.data->manifest : nullptr));
    BOOST_OUTCOME_TRY(check_writable(site));
    return found;
}

Result<ClaimStep> try_claim(Claimer& claimer, const Site& site, const Ask& ask, const RevisionData& data)
{
    BOOST_OUTCOME_TRY(attempt, claimer.attempt());
    ClaimStep step{std::move(attempt), {}};
    if (step.attempt.claim) return step;
    if (auto done = done_by_marker(site, ask, &data)) step.seen = std::move(*done);
    return step;
}

void tidy_up_after(const Site& site)
{
    std::error_code ignored;
    if (!std::filesystem::exists(site.base, ignored)) return;
    Claimer claimer{site, boot_time, own_identity()};
    const auto attempt = claimer.attempt();
    if (!attempt || !attempt.value().claim) return;
    if (attempt.value().claim->remove()) remove_empty(site);
}

}  // namespace shoal::peer
