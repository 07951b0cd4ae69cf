// Directories as fetch leaves them, read and judged.
#include "tests/component/peer/small_model.hpp"

#include "peer/placement.hpp"
#include "peer/verify.hpp"

#include <fstream>

namespace shoal::peer {
namespace {

class VerifyFiles : public PeerFiles {
protected:
    void SetUp() override
    {
        PeerFiles::SetUp();
        options.root = top / "models";
        fetch_into(site_in_root(options.root, "llama"));
    }

    void fetch_into(const Site& place_at)
    {
        site = place_at;
        const Errand all = errand(model);
        auto workspace = prepare_workspace(all);
        ASSERT_TRUE(workspace) << workspace.error().message;
        for (std::uint32_t piece = 0; piece < model.data->layout->pieces(); ++piece)
            ASSERT_TRUE(workspace.value().storage->write(PieceIndex{piece}, 0, as_bytes(model.piece(piece))));
        Marker marker;
        marker.model = "llama";
        marker.revision = model.data->revision;
        marker.manifest = model.data->manifest_bytes;
        marker.layers = model.data->layer_bytes;
        Placement placement{site, marker, model.data->manifest, workspace.value().plan, {}, false, *all.claim, *workspace.value().cache, {}};
        ASSERT_TRUE(place(placement));
    }

    Result<std::vector<Verified>> verify() const { return verify_directories(options, *cancelled); }

    SmallModel model = usual_model();
    VerifyOptions options;
};

TEST_F(VerifyFiles, AGoodCopyVerifiesWithoutATracker)
{
    const auto all = verify();
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all.value().size(), 1U);
    EXPECT_EQ(all.value()[0].site.directory, options.root / "llama");
    EXPECT_TRUE(judge(all.value()));
}

TEST_F(VerifyFiles, C43_AWrongByteIsNamedWithFileRangeAndDigests)
{
    std::fstream{site.final("weights.bin"), std::ios::in | std::ios::out | std::ios::binary}.seekp(300'000).write("?", 1);
    const auto judged = judge(verify().value());
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().code, Errc::integrity);
    EXPECT_NE(judged.error().message.find("weights.bin bytes 262144-524287: expected piece digest "), std::string::npos) << judged.error().message;
    EXPECT_NE(judged.error().hint.find("--repair"), std::string::npos);
}

TEST_F(VerifyFiles, AFileThatIsCutOrGoneIsNamed)
{
    std::filesystem::resize_file(site.final("weights.bin"), 10);
    std::filesystem::remove(site.final("config.json"));
    const auto message = judge(verify().value()).error().message;
    EXPECT_NE(message.find("weights.bin"), std::string::npos) << message;
    EXPECT_NE(message.find("config.json"), std::string::npos) << message;
}

TEST_F(VerifyFiles, ManyFaultsAreToldAsTheFirstAndANumber)
{
    const std::uint64_t size = std::filesystem::file_size(site.final("weights.bin"));
    std::ofstream{site.final("weights.bin"), std::ios::binary} << std::string(size, '\0');
    const auto message = judge(verify().value()).error().message;
    EXPECT_NE(message.find("; and 1 more"), std::string::npos) << message;
}

TEST_F(VerifyFiles, AMarkerWhoseManifestIsNotTheRevisionsIsAnIntegrityError)
{
    Marker marker = decode_marker(read(site.marker())).value();
    marker.revision.bytes[0] ^= 1U;
    write(site.marker(), encode(marker));
    EXPECT_EQ(verify().error().code, Errc::integrity);
    write(site.marker(), "{");
    EXPECT_EQ(verify().error().code, Errc::integrity);
}

TEST_F(VerifyFiles, WhatIsAskedForMustBeThere)
{
    options.model = "other";
    EXPECT_EQ(verify().error().code, Errc::not_found);
    options.model = "llama";
    options.revision = RevisionId{};
    EXPECT_NE(verify().error().message.find(to_string(model.data->revision)), std::string::npos);
    options = {};
    options.root = top / "nothing";
    std::filesystem::create_directories(options.root);
    EXPECT_EQ(verify().error().code, Errc::not_found);
}

TEST_F(VerifyFiles, AllBelowTheRootAreFound)
{
    fetch_into(site_in_root(options.root, "org/second"));
    // The model's name differs from its place: only a named model is compared with its marker.
    EXPECT_EQ(verify().value().size(), 2U);
}

TEST_F(VerifyFiles, C43_ARepairThatWasBrokenOffIsFoundBelowTheRoot)
{
    std::fstream{site.final("weights.bin"), std::ios::in | std::ios::out | std::ios::binary}.seekp(300'000).write("?", 1);
    {
        const Errand repair = errand(model);
        ASSERT_TRUE(prepare_workspace(repair));
        ASSERT_FALSE(std::filesystem::exists(site.marker()));
        repair.claim->release();
    }
    const auto all = verify();
    ASSERT_TRUE(all) << all.error().message;
    const auto judged = judge(all.value());
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().code, Errc::integrity);
    EXPECT_NE(judged.error().message.find(site.directory.string()), std::string::npos) << judged.error().message;
}

}  // namespace
}  // namespace shoal::peer
