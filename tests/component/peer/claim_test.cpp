// Claims on real directories, with owners whose clocks the test moves.
#include "tests/component/peer/small_model.hpp"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace shoal::peer {
namespace {

using std::chrono::seconds;

class ClaimFiles : public PeerFiles {
protected:
    Claimer claimer(std::uint64_t pid_namespace = 1)
    {
        return Claimer{site, [this] { return now; }, ProcessIdentity{"boot", pid_namespace, 1, 1}};
    }
    static std::unique_ptr<Claim> claimed(Claimer& claimer)
    {
        auto attempt = claimer.attempt();
        EXPECT_TRUE(attempt) << attempt.error().message;
        return attempt ? std::move(attempt.value().claim) : nullptr;
    }
    Path owner_file() const
    {
        for (const auto& entry : std::filesystem::directory_iterator(site.work()))
            if (entry.path().filename().string().starts_with("owner.")) return entry.path();
        return {};
    }

    TimePoint now{seconds{1000}};
};

TEST_F(ClaimFiles, C44_OneAtATime)
{
    Claimer one = claimer(), two = claimer(2);
    const auto first = claimed(one);
    ASSERT_TRUE(first);
    EXPECT_FALSE(claimed(two));
    EXPECT_TRUE(first->remove());
    EXPECT_TRUE(claimed(two));
}

TEST_F(ClaimFiles, C44_AnOwnerThatCountsOnKeepsIt)
{
    Claimer one = claimer(), two = claimer(2);
    const auto first = claimed(one);
    for (int i = 0; i < 20; ++i) {
        now += seconds{3};
        ASSERT_TRUE(first->renew());
        ASSERT_FALSE(claimed(two)) << i;
    }
}

TEST_F(ClaimFiles, C44_AnOwnerThatStoodStillLosesItAndFindsOutBeforeItWrites)
{
    Claimer one = claimer(), two = claimer(2);
    const auto first = claimed(one);
    EXPECT_FALSE(claimed(two));
    now += seconds{10};
    const auto second = claimed(two);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->unsure());
    EXPECT_EQ(first->guard().error().code, Errc::changed);
    EXPECT_EQ(first->renew().error().code, Errc::changed);
    EXPECT_EQ(first->remove().error().code, Errc::changed);
    first->release();  // changes nothing
    EXPECT_TRUE(second->renew());
}

TEST_F(ClaimFiles, GuardAsksTheDiskOnlyWhenItHasNotForFiveSeconds)
{
    Claimer one = claimer();
    const auto first = claimed(one);
    std::filesystem::remove(owner_file());
    now += std::chrono::milliseconds{4999};
    EXPECT_TRUE(first->guard());
    now += std::chrono::milliseconds{1};
    EXPECT_EQ(first->guard().error().code, Errc::changed);
}

TEST_F(ClaimFiles, C41_AnOwnerOfThisMachineThatWasKilledIsTakenOverAtOnce)
{
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        Claimer theirs{site, boot_time, own_identity()};
        const auto attempt = theirs.attempt();
        ::_exit(attempt && attempt.value().claim ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    Claimer ours{site, boot_time, own_identity()};
    const auto attempt = ours.attempt();
    ASSERT_TRUE(attempt);
    ASSERT_TRUE(attempt.value().claim);
    EXPECT_FALSE(attempt.value().claim->unsure());
}

TEST_F(ClaimFiles, C45_AClaimThatMayNotBeWrittenIsAnErrorThatNamesItAndIsNotWaitedOn)
{
    Claimer one = claimer(), two = claimer(2);
    claimed(one)->release();
    const Path left = owner_file();
    ASSERT_TRUE(std::filesystem::remove(left));
    ASSERT_TRUE(std::filesystem::create_directory(left));  // in place of another user's file: root may write those
    const auto attempt = two.attempt();
    ASSERT_FALSE(attempt);
    EXPECT_NE(attempt.error().message.find(site.work().string()), std::string::npos) << attempt.error().message;
    EXPECT_EQ(owner_file(), left);
}

TEST_F(ClaimFiles, C45_AReleasedClaimIsTakenAtOnceAndWhatIsStagedStays)
{
    Claimer one = claimer(), two = claimer(2);
    claimed(one)->release();
    write(site.work() / "data" / "f0", "x");
    EXPECT_TRUE(claimed(two));
    EXPECT_EQ(read(site.work() / "data" / "f0"), "x");
}

TEST_F(ClaimFiles, C82_AGarbledRecordIsWaitedOutAndTakenOver)
{
    Claimer one = claimer(), two = claimer(2);
    const auto first = claimed(one);
    std::ofstream{owner_file()} << std::string(40, '\0');
    EXPECT_FALSE(claimed(two));
    now += seconds{10};
    EXPECT_TRUE(claimed(two));
}

TEST_F(ClaimFiles, C82_ADirectoryWhoseOwnerFileWasDeletedIsAdoptedWithItsData)
{
    Claimer one = claimer(), two = claimer(2);
    const auto first = claimed(one);
    write(site.work() / "data" / "f0", "x");
    std::filesystem::remove(owner_file());
    const auto second = claimed(two);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->unsure());
    EXPECT_EQ(read(site.work() / "data" / "f0"), "x");
    EXPECT_FALSE(first->renew());
}

TEST_F(ClaimFiles, ARecordThatAnotherProcessWroteProvesNothing)
{
    Claimer one{site, [this] { return now; }, own_identity()};
    const auto first = claimed(one);
    const std::string record = read(owner_file());
    const auto line = record.find('\n');
    std::ofstream{owner_file()} << "owner 0000000000000000" << record.substr(line, record.find("pid ") + 4 - line) << "999999999\nstart 1\ncount 1\n";
    Claimer two{site, [this] { return now; }, own_identity()};
    EXPECT_FALSE(claimed(two));  // not at once: the dead pid is not its owner's word
}

TEST_F(ClaimFiles, NothingIsLeftWhenItIsRemoved)
{
    Claimer one = claimer();
    const auto first = claimed(one);
    write(site.work() / "data" / "f0", "x");
    EXPECT_TRUE(first->remove());
    remove_empty(site);
    EXPECT_FALSE(std::filesystem::exists(site.shoal));
}

TEST_F(ClaimFiles, ADirectoryThatCannotBeWrittenIsNamed)
{
    write(site.directory, "a file");
    Claimer one = claimer();
    const auto attempt = one.attempt();
    ASSERT_FALSE(attempt);
    EXPECT_NE(attempt.error().message.find(site.directory.string()), std::string::npos) << attempt.error().message;
}

}  // namespace
}  // namespace shoal::peer
