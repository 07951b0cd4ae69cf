#include "peer/destination.hpp"

#include <gtest/gtest.h>

namespace shoal::peer {
namespace {

RevisionId revision(std::uint8_t value)
{
    RevisionId id;
    id.bytes.fill(value);
    return id;
}

Record record(std::uint8_t value, const std::vector<std::string>& paths, bool whole = true)
{
    Record found;
    found.marker.model = "llama";
    found.marker.revision = revision(value);
    found.marker.whole = whole;
    for (const std::string& path : paths) {
        found.marker.files.push_back({path, 1, 1, 1});
        found.intact.insert(path);
    }
    return found;
}

Ask ask_for(std::uint8_t value)
{
    Ask ask;
    ask.model = "llama";
    ask.revision = revision(value);
    return ask;
}

model::Manifest manifest_of(const std::vector<std::string>& paths)
{
    model::Manifest manifest;
    manifest.model = "llama";
    for (const std::string& path : paths) manifest.files.push_back({path, 1, {}, {}});
    return manifest;
}

DestinationFacts held(std::uint8_t value, const std::vector<std::string>& paths, bool whole = true)
{
    DestinationFacts facts;
    facts.marker = record(value, paths, whole);
    facts.present = {paths.begin(), paths.end()};
    return facts;
}

TEST(Destination, AnEmptyOneIsFetchedInto)
{
    const auto decision = decide(ask_for(1), {}, nullptr);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision.value().verdict, Verdict::fetch);
    EXPECT_FALSE(decision.value().take_marker_away);
}

TEST(Destination, C50_AWholeMarkedCopyIsDone)
{
    EXPECT_EQ(decide(ask_for(1), held(1, {"a", "b"}), nullptr).value().verdict, Verdict::done);
}

TEST(Destination, AMissingOrChangedFileIsFetchedAndTheMarkerTakenAway)
{
    auto facts = held(1, {"a", "b"});
    facts.marker->intact.erase("b");
    const auto decision = decide(ask_for(1), facts, nullptr);
    EXPECT_EQ(decision.value().verdict, Verdict::fetch);
    EXPECT_TRUE(decision.value().take_marker_away);
    EXPECT_TRUE(held_as_recorded(ask_for(1), facts, "a"));
    EXPECT_FALSE(held_as_recorded(ask_for(1), facts, "b"));
}

TEST(Destination, ARepairTrustsNoRecord)
{
    Ask ask = ask_for(1);
    ask.check_content = true;
    EXPECT_EQ(decide(ask, held(1, {"a"}), nullptr).value().verdict, Verdict::fetch);
    EXPECT_FALSE(held_as_recorded(ask, held(1, {"a"}), "a"));
}

TEST(Destination, C54_AFilteredCopyNeverSatisfiesAWholeOne)
{
    const auto decision = decide(ask_for(1), held(1, {"a.json"}, false), nullptr);
    EXPECT_EQ(decision.value().verdict, Verdict::fetch);
    EXPECT_FALSE(decision.value().take_marker_away);  // what it says stays true
}

TEST(Destination, C54_AnyCopySatisfiesAFilterWhoseFilesItHolds)
{
    const auto manifest = manifest_of({"a.json", "b.bin", "c.json"});
    Ask ask = ask_for(1);
    ask.include = {"*.json"};
    EXPECT_EQ(decide(ask, held(1, {"a.json", "b.bin", "c.json"}), &manifest).value().verdict, Verdict::done);
    EXPECT_EQ(decide(ask, held(1, {"a.json", "c.json"}, false), &manifest).value().verdict, Verdict::done);
    EXPECT_EQ(decide(ask, held(1, {"a.json"}, false), &manifest).value().verdict, Verdict::fetch);
}

TEST(Destination, C55_AnotherRevisionIsRefusedWithBothDigests)
{
    const auto decision = decide(ask_for(2), held(1, {"a"}), nullptr);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, Errc::not_allowed);
    EXPECT_NE(decision.error().text().find(to_string(revision(1))), std::string::npos);
    EXPECT_NE(decision.error().text().find(to_string(revision(2))), std::string::npos);
    EXPECT_NE(decision.error().text().find("--replace"), std::string::npos);
}

TEST(Destination, C55_AnotherRevisionIsReplacedWhenToldTo)
{
    Ask ask = ask_for(2);
    ask.replace = true;
    const auto decision = decide(ask, held(1, {"a"}), nullptr);
    EXPECT_EQ(decision.value().verdict, Verdict::replace);
    EXPECT_TRUE(decision.value().take_marker_away);
    EXPECT_FALSE(held_as_recorded(ask, held(1, {"a"}), "a"));
}

TEST(Destination, C55_ForeignFilesAreRefusedByNameEvenWhenReplacing)
{
    DestinationFacts facts;
    facts.present = {"notes.txt"};
    EXPECT_NE(decide(ask_for(1), facts, nullptr).error().message.find("notes.txt"), std::string::npos);
    facts = held(1, {"a"});
    facts.odd = {"link"};
    Ask ask = ask_for(2);
    ask.replace = true;
    EXPECT_EQ(decide(ask, facts, nullptr).error().code, Errc::not_allowed);
}

TEST(Destination, C55_AnotherModelIsRefusedEvenWhenReplacing)
{
    Ask ask = ask_for(1);
    ask.model = "other";
    ask.replace = true;
    EXPECT_EQ(decide(ask, held(1, {"a"}), nullptr).error().code, Errc::not_allowed);
}

TEST(Destination, AModelInsideOrAboveAnotherIsRefused)
{
    DestinationFacts facts;
    facts.other_models = {"/models/llama/chat"};
    EXPECT_NE(decide(ask_for(1), facts, nullptr).error().message.find("/models/llama/chat"), std::string::npos);
}

TEST(Destination, ABrokenOffPlacementOfTheSameRevisionIsFinished)
{
    DestinationFacts facts;
    facts.intent = record(1, {"a", "b"});
    facts.intent->intact = {"a"};
    facts.present = {"a"};
    EXPECT_EQ(decide(ask_for(1), facts, nullptr).value().verdict, Verdict::fetch);
    EXPECT_TRUE(held_as_recorded(ask_for(1), facts, "a"));
}

TEST(Destination, ABrokenOffReplacementGoesOnOnceItsFilesWereBeingPlaced)
{
    DestinationFacts facts;
    facts.earlier = record(1, {"a", "old"});
    facts.intent = record(2, {"a", "new"});
    facts.present = {"a", "old"};
    EXPECT_EQ(decide(ask_for(2), facts, nullptr).value().verdict, Verdict::replace);
    EXPECT_FALSE(decide(ask_for(3), facts, nullptr));
    facts.intent.reset();
    EXPECT_FALSE(decide(ask_for(2), facts, nullptr));  // nothing of it was placed: ask again
}

TEST(Destination, AFileOfTheOldRevisionIsNeverTakenForTheNewOnes)
{
    DestinationFacts facts;
    facts.earlier = record(1, {"a"});
    facts.intent = record(2, {"a"});
    facts.intent->intact.clear();  // "a" is still the old one
    facts.present = {"a"};
    EXPECT_FALSE(held_as_recorded(ask_for(2), facts, "a"));
}

TEST(Destination, C82_ADamagedMarkerLeavesTheFilesOfTheManifestToBeChecked)
{
    const auto manifest = manifest_of({"a", "b"});
    DestinationFacts facts;
    facts.damage = "cut";
    facts.present = {"a"};
    EXPECT_EQ(decide(ask_for(1), facts, &manifest).value().verdict, Verdict::fetch);
    EXPECT_TRUE(decide(ask_for(1), facts, nullptr));  // not judged yet
    facts.present.insert("mine");
    EXPECT_NE(decide(ask_for(1), facts, &manifest).error().message.find("mine"), std::string::npos);
}

TEST(Filters, IncludeFirstThenExclude)
{
    const auto manifest = manifest_of({"a.bin", "a.json", "b.json"});
    EXPECT_EQ(wanted_files(manifest, {}, {}).value(), (std::vector<bool>{true, true, true}));
    EXPECT_EQ(wanted_files(manifest, {"*.json"}, {"b*"}).value(), (std::vector<bool>{false, true, false}));
    EXPECT_EQ(wanted_files(manifest, {}, {"*.json"}).value(), (std::vector<bool>{true, false, false}));
}

TEST(Filters, NothingLeftIsNotFound)
{
    EXPECT_EQ(wanted_files(manifest_of({"a"}), {"*.json"}, {}).error().code, Errc::not_found);
}

}  // namespace
}  // namespace shoal::peer
