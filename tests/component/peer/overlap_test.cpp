// Two destinations of which one lies in the other: refused by name, whichever way they are given, and nothing is mixed.
#include "peer/overlap.hpp"

#include "peer/destination_scan.hpp"
#include "tests/component/peer/workspace_files.hpp"

namespace shoal::peer {
namespace {

class Overlap : public WorkspaceFiles {
protected:
    // Somebody is at work there, or was broken off.
    std::shared_ptr<Claim> claimed(const Site& at)
    {
        site = at;
        return claim();
    }
    // Refused, naming the destination and what it overlaps.
    static void expect_refused(const Site& at, const Path& other)
    {
        Ask ask;
        ask.model = "other";
        const auto facts = look_at(at);
        ASSERT_TRUE(facts) << facts.error().message;
        const auto decision = decide(ask, facts.value(), nullptr);
        ASSERT_FALSE(decision) << at.directory << " in " << other;
        EXPECT_EQ(decision.error().code, Errc::not_allowed);
        EXPECT_NE(decision.error().message.find(at.directory.string()), std::string::npos) << decision.error().message;
        EXPECT_NE(decision.error().message.find(other.string()), std::string::npos) << decision.error().message;
    }
    static void expect_free(const Site& at)
    {
        const auto facts = look_at(at);
        ASSERT_TRUE(facts) << facts.error().message;
        EXPECT_TRUE(facts.value().other_models.empty()) << facts.value().other_models.front();
    }

    SmallModel model = usual_model();
};

TEST_F(Overlap, ADirectoryInsideAMarkedOneIsRefusedAtAnyDepth)
{
    fetch(model);
    expect_refused(site_at(site.directory / "sub"), site.directory);
    expect_refused(site_at(site.directory / "a/b/c"), site.directory);
    expect_refused(site_in_root(site.directory, "org/other"), site.directory);
    expect_whole(model);
}

TEST_F(Overlap, ADirectoryAboveAMarkedOneIsRefused)
{
    fetch(model);
    expect_refused(site_at(top), site.directory);
}

TEST_F(Overlap, ADirectoryInsideOrAboveOneThatIsBeingFetchedIsRefused)
{
    const auto holder = claimed(site_at(top / "p/q"));
    expect_refused(site_at(top / "p/q/sub"), top / "p/q");
    expect_refused(site_in_root(top / "p/q", "other"), top / "p/q");
    expect_refused(site_at(top / "p"), top / "p/q");
    expect_refused(site_at(top), top / "p/q");
    expect_free(site_at(top / "p/q2"));
    expect_free(site_at(top / "p/q"));
}

TEST_F(Overlap, OneThatIsBeingFetchedIntoARootIsRefusedByAnyOtherWay)
{
    const auto holder = claimed(site_in_root(top / "models", "org/llama"));
    const Path theirs = top / "models/org/llama";
    expect_refused(site_at(theirs), theirs);
    expect_refused(site_at(theirs / "sub"), theirs);
    expect_refused(site_at(top / "models/org"), theirs);
    expect_refused(site_at(top / "models"), theirs);
    expect_refused(site_at(top), theirs);
    expect_refused(site_in_root(top / "models", "org"), theirs);
    expect_refused(site_in_root(top / "models/org", "llama"), theirs);
    expect_free(site_in_root(top / "models", "org/llama"));
    expect_free(site_in_root(top / "models", "org/llama-2"));
    expect_free(site_in_root(top / "models", "work"));
}

TEST_F(Overlap, AModelThatIsNamedLikeAWorkDirectoryStandsInNobodysWay)
{
    const auto holder = claimed(site_in_root(top / "models", "work"));
    expect_free(site_in_root(top / "models", "llama"));
    expect_refused(site_at(top / "models/work/sub"), top / "models/work");
}

TEST_F(Overlap, LinksAreFollowed)
{
    const auto holder = claimed(site_at(top / "real"));
    std::filesystem::create_directory_symlink(top / "real", top / "link");
    expect_refused(site_at(top / "link/sub"), top / "real");
}

}  // namespace
}  // namespace shoal::peer
