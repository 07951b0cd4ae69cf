// Fetches on a real directory without a swarm: pieces are written as a transfer would. For tests of shoal_peer.
#pragma once

#include "peer/placement.hpp"
#include "peer/survey.hpp"
#include "tests/component/peer/small_model.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <string>

namespace shoal::peer {

class WorkspaceFiles : public PeerFiles {
protected:
    static std::size_t missing(const Workspace& workspace)
    {
        std::size_t count = 0;
        for (std::size_t i = 0; i < workspace.have.size(); ++i) count += workspace.plan.needed[i] && !workspace.have[i] ? 1U : 0U;
        return count;
    }
    static void transfer(const SmallModel& model, Workspace& workspace, std::size_t most = 1'000'000)
    {
        for (std::uint32_t piece = 0; piece < workspace.have.size() && most > 0; ++piece) {
            if (!workspace.plan.needed[piece] || workspace.have[piece]) continue;
            ASSERT_TRUE(workspace.storage->write(PieceIndex{piece}, 0, as_bytes(model.piece(piece))));
            workspace.have[piece] = true;
            --most;
        }
    }
    static Result<Marker> put(const Errand& errand, const Workspace& workspace, std::function<Result<void>(const char*)> step = {})
    {
        Marker marker;
        marker.model = errand.ask.model;
        marker.revision = errand.ask.revision;
        marker.include = errand.ask.include;
        marker.manifest = errand.data->manifest_bytes;
        marker.layers = errand.data->layer_bytes;
        Placement placement{errand.site, marker, errand.data->manifest, workspace.plan, recorded_paths(workspace.facts),
            workspace.decision.verdict == Verdict::replace, *errand.claim, *workspace.cache, std::move(step)};
        return place(placement);
    }
    // A whole fetch; how many pieces it had to get.
    std::size_t fetch(const SmallModel& model, const std::function<void(Ask&)>& change = {})
    {
        Errand all = errand(model);
        if (change) change(all.ask);
        auto workspace = prepare_workspace(all);
        EXPECT_TRUE(workspace) << workspace.error().message;
        if (!workspace) return 999;
        const std::size_t count = missing(workspace.value());
        transfer(model, workspace.value());
        const auto marker = put(all, workspace.value());
        EXPECT_TRUE(marker) << marker.error().message;
        return count;
    }
    void expect_whole(const SmallModel& model) const
    {
        std::set<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(site.directory))
            if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(site.directory).string());
        std::set<std::string> expected{marker_name};
        for (const auto& [path, text] : model.content) {
            expected.insert(path);
            EXPECT_EQ(read(site.final(path)) == text, true) << path;
        }
        EXPECT_EQ(found, expected);
        EXPECT_FALSE(std::filesystem::exists(site.shoal));
        Ask ask;
        ask.model = "llama";
        ask.revision = model.data->revision;
        const auto seen = survey(site, ask);
        ASSERT_TRUE(seen) << seen.error().message;
        EXPECT_TRUE(seen.value().done);
    }
};

}  // namespace shoal::peer
