// What every object store must do, whatever it is made of. An implementation's test file includes this once and says how to make an empty store:
//     INSTANTIATE_TEST_SUITE_P(Directory, StoreConformance, testing::Values(StoreCase{"directory", [] { return …; }}), store_case_name);
#pragma once

#include "common/objectstore/object_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace shoal::objectstore {

// An empty store, gone with everything in it when destroyed.
struct TestedStore {
    std::unique_ptr<ObjectStore> store;
    std::shared_ptr<void> cleanup;
};

// What tells two versions of a key from each other: that they were written one after the other, or that their contents differ.
enum class Versions { of_writes, of_contents };

struct StoreCase {
    std::string name;
    std::function<TestedStore()> make;
    Versions versions = Versions::of_writes;
    std::function<bool()> is_here = [] { return true; };
};

inline std::string store_case_name(const testing::TestParamInfo<StoreCase>& info)
{
    return info.param.name;
}

class StoreConformance : public testing::TestWithParam<StoreCase> {
protected:
    void SetUp() override
    {
        if (!GetParam().is_here()) GTEST_SKIP() << "the store cannot be made here; run scripts/setup test";
        tested = GetParam().make();
        ASSERT_NE(tested.store, nullptr);
    }
    [[nodiscard]] ObjectStore& store() const { return *tested.store; }
    void place(const std::string& key, std::string_view content) const
    {
        const auto put = store().put(key, content, Condition::always());
        ASSERT_TRUE(put) << put.error().text();
    }
    [[nodiscard]] std::string content_of(const std::string& key) const
    {
        const auto object = store().get(key, 1U << 20U);
        return object ? object.value().content : "error: " + object.error().message;
    }
    // All keys, by pages of `limit`.
    [[nodiscard]] std::vector<std::string> keys(const std::string& prefix, std::size_t limit = 1000) const
    {
        std::vector<std::string> found;
        std::string after;
        do {
            const auto page = store().list(prefix, after, limit);
            EXPECT_TRUE(page) << page.error().text();
            if (!page) break;
            EXPECT_LE(page.value().objects.size(), limit);
            for (const ObjectInfo& object : page.value().objects) found.push_back(object.key);
            after = page.value().next;
        } while (!after.empty());
        return found;
    }
    TestedStore tested;
};

inline std::vector<std::string> odd_keys()
{
    return {"odd/with space", "odd/trailing ", "odd/#hash", "odd/a+b", "odd/a%2Fb", "odd/what?", "odd/star*", "odd/[x]", "odd/~tilde", "odd/$HOME",
        "odd/'quote\"", "odd/nbsp\xC2\xA0here", "odd/narrow\xE2\x80\xAFhere", "odd/ideographic\xE3\x80\x80here", "odd/mark\xE2\x80\x8Ehere", "odd/del\x7Fhere",
        "odd/new\nline", "odd/-leading", "odd/gr\xC3\xBC\xC3\x9F", "odd/nfc-\xC3\xA9", "odd/nfd-e\xCC\x81", "odd/" + std::string(255, 'x'), "odd/%", "odd/%zz",
        "odd/&amp;", "odd/a=b;c", "odd/.hidden", "odd/..two"};
}

TEST_P(StoreConformance, HoldsWhatWasPut)
{
    place("a/key", "content");
    const auto object = store().get("a/key", 100);
    ASSERT_TRUE(object);
    EXPECT_EQ(object.value().content, "content");
    const auto info = store().head("a/key");
    ASSERT_TRUE(info);
    EXPECT_EQ(info.value().key, "a/key");
    EXPECT_EQ(info.value().size, 7U);
    EXPECT_EQ(info.value().version, object.value().version);
}

TEST_P(StoreConformance, NamesStoreAndKeyOfWhatIsNotThere)
{
    for (const auto& error : {store().get("no/thing", 100).error(), store().head("no/thing").error()}) {
        EXPECT_EQ(error.code, Errc::not_found);
        EXPECT_NE(error.message.find(store().url()), std::string::npos) << error.message;
        EXPECT_NE(error.message.find("no/thing"), std::string::npos) << error.message;
    }
    std::byte out[1];
    EXPECT_EQ(store().get_range("no/thing", 0, out).error().code, Errc::not_found);
}

TEST_P(StoreConformance, APrefixIsNoObject)
{
    place("a/b/c", "content");
    EXPECT_EQ(store().head("a/b").error().code, Errc::not_found);
    EXPECT_EQ(store().get("a/b", 100).error().code, Errc::not_found);
    EXPECT_EQ(store().get("a/b/c/d", 100).error().code, Errc::not_found);
}

TEST_P(StoreConformance, RefusesToGetMoreThanTheLimit)
{
    place("large", std::string(101, 'x'));
    EXPECT_EQ(store().get("large", 100).error().code, Errc::too_large);
    EXPECT_TRUE(store().get("large", 101));
}

TEST_P(StoreConformance, HoldsAnEmptyObject)
{
    place("empty", "");
    EXPECT_EQ(content_of("empty"), "");
    EXPECT_EQ(store().head("empty").value().size, 0U);
    EXPECT_EQ(keys(""), std::vector<std::string>{"empty"});
}

TEST_P(StoreConformance, ReadsExactlyTheRangeAskedFor)
{
    place("range", "0123456789");
    std::string out(4, '?');
    ASSERT_TRUE(store().get_range("range", 3, std::as_writable_bytes(std::span{out})));
    EXPECT_EQ(out, "3456");
    ASSERT_TRUE(store().get_range("range", 6, std::as_writable_bytes(std::span{out})));
    EXPECT_EQ(out, "6789");
}

TEST_P(StoreConformance, ARangeBeyondTheEndIsACutObject)
{
    place("range", "0123456789");
    std::string out(4, '?');
    for (const std::uint64_t offset : {7U, 10U, 1000U}) {
        const auto read = store().get_range("range", offset, std::as_writable_bytes(std::span{out}));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, Errc::integrity);
        EXPECT_NE(read.error().message.find("range"), std::string::npos);
        EXPECT_NE(read.error().message.find(std::to_string(offset + 4)), std::string::npos) << read.error().message;
    }
}

TEST_P(StoreConformance, C14_ARangeOfAnotherVersionIsRefused)
{
    const Version before = store().put("weights", "aaaa", Condition::always()).value();
    std::string out(4, '?');
    ASSERT_TRUE(store().get_range("weights", 0, std::as_writable_bytes(std::span{out}), before));
    place("weights", "bbbb");
    const auto read = store().get_range("weights", 0, std::as_writable_bytes(std::span{out}), before);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::changed);
    EXPECT_NE(read.error().message.find("weights"), std::string::npos);
}

TEST_P(StoreConformance, PutIfAbsentKeepsWhatIsThere)
{
    ASSERT_TRUE(store().put("once", "first", Condition::absent()));
    EXPECT_EQ(store().put("once", "second", Condition::absent()).error().code, Errc::exists);
    EXPECT_EQ(content_of("once"), "first");
}

TEST_P(StoreConformance, OneOfManyPutsIfAbsentWins)
{
    for (int round = 0; round < 20; ++round) {
        const std::string key = "race/" + std::to_string(round);
        std::atomic<int> won{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&, i] {
                const auto put = store().put(key, "by " + std::to_string(i), Condition::absent());
                if (put)
                    ++won;
                else
                    EXPECT_EQ(put.error().code, Errc::exists) << put.error().text();
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(won, 1);
        EXPECT_TRUE(content_of(key).starts_with("by "));
    }
}

TEST_P(StoreConformance, AConditionalPutNeedsTheVersionThatIsThere)
{
    const Version first = store().put("record", "1", Condition::absent()).value();
    const auto second = store().put("record", "2", Condition::is(first));
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_NE(second.value(), first);
    EXPECT_EQ(store().head("record").value().version, second.value());
    const auto late = store().put("record", "3", Condition::is(first));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::changed);
    EXPECT_NE(late.error().message.find("record"), std::string::npos);
    EXPECT_EQ(content_of("record"), "2");
}

TEST_P(StoreConformance, AConditionalPutOfWhatIsGoneFails)
{
    const Version first = store().put("record", "1", Condition::absent()).value();
    ASSERT_TRUE(store().remove("record"));
    EXPECT_EQ(store().put("record", "2", Condition::is(first)).error().code, Errc::changed);
    EXPECT_EQ(store().head("record").error().code, Errc::not_found);
}

TEST_P(StoreConformance, AVersionNeverComesBackWhileContentsAlternate)
{
    std::map<Version, std::string> seen;
    std::string content = "a";
    Version version = store().put("record", content, Condition::absent()).value();
    for (int i = 0; i < 50; ++i) {
        const auto [before, is_new] = seen.emplace(version, content);
        EXPECT_TRUE(is_new || (GetParam().versions == Versions::of_contents && before->second == content)) << "after " << i << " puts";
        content = std::string(1, static_cast<char>('b' + i % 20));
        version = store().put("record", content, Condition::is(version)).value();
    }
}

TEST_P(StoreConformance, NoConditionalPutIsLost)
{
    place("counter", "0");
    constexpr int threads = 4;
    constexpr int each = 10;
    std::vector<std::thread> writers;
    for (int i = 0; i < threads; ++i) {
        writers.emplace_back([&] {
            for (int done = 0; done < each;) {
                const auto now = store().get("counter", 100);
                ASSERT_TRUE(now) << now.error().text();
                const auto put = store().put("counter", std::to_string(std::stoi(now.value().content) + 1), Condition::is(now.value().version));
                if (put)
                    ++done;
                else
                    ASSERT_EQ(put.error().code, Errc::changed) << put.error().text();
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(content_of("counter"), std::to_string(threads * each));
}

TEST_P(StoreConformance, AReaderSeesOneWholeContentWhileItIsReplaced)
{
    place("record", std::string(5000, 'a'));
    std::atomic<bool> stop{false};
    std::thread writer{[&] {
        for (int i = 0; i < 30; ++i) place("record", std::string(5000, static_cast<char>('b' + i % 20)));
        stop = true;
    }};
    while (!stop) {
        const std::string content = content_of("record");
        ASSERT_EQ(content, std::string(5000, content.front()));
    }
    writer.join();
}

TEST_P(StoreConformance, AnUploadIsSeenWholeAndOnlyAfterItsCommit)
{
    const std::string first(70'000, 'a');
    const std::string second(30'000, 'b');
    auto upload = store().upload("blobs/ab/large", 100'000);
    ASSERT_TRUE(upload) << upload.error().text();
    ASSERT_TRUE(upload.value()->write(as_bytes(first)));
    EXPECT_EQ(store().head("blobs/ab/large").error().code, Errc::not_found);
    EXPECT_TRUE(keys("").empty());
    ASSERT_TRUE(upload.value()->write(as_bytes(second)));
    ASSERT_TRUE(upload.value()->commit());
    EXPECT_EQ(content_of("blobs/ab/large"), first + second);
}

TEST_P(StoreConformance, AnUploadThatIsGivenUpLeavesNothing)
{
    {
        auto upload = store().upload("blobs/ab/large", 100'000);
        ASSERT_TRUE(upload);
        ASSERT_TRUE(upload.value()->write(as_bytes("half of it")));
    }
    EXPECT_TRUE(keys("").empty());
    EXPECT_EQ(store().head("blobs/ab/large").error().code, Errc::not_found);
}

TEST_P(StoreConformance, AnUploadOfAnotherLengthThanAnnouncedFails)
{
    auto upload = store().upload("short", 100);
    ASSERT_TRUE(upload);
    ASSERT_TRUE(upload.value()->write(as_bytes("ninety-nine at most")));
    EXPECT_FALSE(upload.value()->commit());
    upload.value().reset();
    EXPECT_EQ(store().head("short").error().code, Errc::not_found);
}

TEST_P(StoreConformance, SeveralUploadsOfOneKeyAllSucceedAndTheFirstStays)
{
    auto one = store().upload("blob", 3);
    auto two = store().upload("blob", 3);
    ASSERT_TRUE(one.value()->write(as_bytes("one")));
    ASSERT_TRUE(two.value()->write(as_bytes("two")));
    ASSERT_TRUE(two.value()->commit());
    ASSERT_TRUE(one.value()->commit());
    EXPECT_EQ(content_of("blob"), "two");
}

TEST_P(StoreConformance, RemoveTakesAwayAndMayBeRepeated)
{
    place("a/key", "content");
    place("a/other", "content");
    ASSERT_TRUE(store().remove("a/key"));
    ASSERT_TRUE(store().remove("a/key"));
    ASSERT_TRUE(store().remove("never/was"));
    EXPECT_EQ(store().head("a/key").error().code, Errc::not_found);
    EXPECT_EQ(keys("a/"), std::vector<std::string>{"a/other"});
}

TEST_P(StoreConformance, C05_APrefixWithASlashNeverMatchesItsNeighbours)
{
    for (const char* key : {"m/a", "m/b/c", "m-hf/a", "m.txt", "m0/a"}) place(key, "x");
    EXPECT_EQ(keys("m/"), (std::vector<std::string>{"m/a", "m/b/c"}));
    EXPECT_EQ(keys("m/b/"), (std::vector<std::string>{"m/b/c"}));
    EXPECT_EQ(keys("m-"), (std::vector<std::string>{"m-hf/a"}));
    EXPECT_EQ(keys("nothing/"), std::vector<std::string>{});
}

TEST_P(StoreConformance, ListsInTheOrderOfBytesAcrossDirectories)
{
    for (const char* key : {"b0", "b/x", "b.txt", "a", "B", "b/a/z", "b/a.z", "\xC3\xBC", "z"}) place(key, "x");
    EXPECT_EQ(keys(""), (std::vector<std::string>{"B", "a", "b.txt", "b/a.z", "b/a/z", "b/x", "b0", "z", "\xC3\xBC"}));
    EXPECT_EQ(keys("", 1), keys(""));
    EXPECT_EQ(keys("b", 2), (std::vector<std::string>{"b.txt", "b/a.z", "b/a/z", "b/x", "b0"}));
}

TEST_P(StoreConformance, AListingStartsAfterAnyText)
{
    for (const char* key : {"l/a", "l/b/1", "l/b/2", "l/c"}) place(key, "x");
    const auto first = [&](const std::string& after) { return store().list("l/", after, 1).value().objects.at(0).key; };
    EXPECT_EQ(first(""), "l/a");
    EXPECT_EQ(first("l/a"), "l/b/1");
    EXPECT_EQ(first("l/aa"), "l/b/1");
    EXPECT_EQ(first("l/b/1"), "l/b/2");
    EXPECT_EQ(first("l/b0"), "l/c");
    EXPECT_TRUE(store().list("l/", "l/c", 1).value().objects.empty());
    EXPECT_TRUE(store().list("l/", "m", 1).value().objects.empty());
}

TEST_P(StoreConformance, C17_PagesAreCompleteAndDoNotOverlap)
{
    std::vector<std::string> expected;
    for (int i = 0; i < 1234; ++i) {
        const std::string number = std::to_string(i);
        expected.push_back("models/m/revisions/" + std::string(5 - number.size(), '0') + number);
    }
    std::vector<std::thread> writers;
    for (std::size_t part = 0; part < 4; ++part) {
        writers.emplace_back([&, part] {
            for (std::size_t i = part; i < expected.size(); i += 4) ASSERT_TRUE(store().put(expected[i], "x", Condition::absent()));
        });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(keys("models/"), expected);
    EXPECT_EQ(keys("models/", 100), expected);
    EXPECT_EQ(store().list("models/", "", 1000).value().next, expected[999]);
}

TEST_P(StoreConformance, AListingTellsSizeAndVersion)
{
    const Version version = store().put("l/key", "12345", Condition::always()).value();
    const Page page = store().list("l/", "", 10).value();
    ASSERT_EQ(page.objects.size(), 1U);
    EXPECT_EQ(page.objects[0].size, 5U);
    EXPECT_EQ(page.objects[0].version, version);
    EXPECT_EQ(page.next, "");
}

TEST_P(StoreConformance, C06_OddNamesArriveByteEqual)
{
    std::vector<std::string> sorted = odd_keys();
    for (const std::string& key : sorted) place(key, "content of " + key);
    for (const std::string& key : sorted) EXPECT_EQ(content_of(key), "content of " + key);
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(keys("odd/"), sorted);
    for (const std::string& key : sorted) {
        ASSERT_TRUE(store().remove(key));
        EXPECT_EQ(store().head(key).error().code, Errc::not_found);
    }
}

TEST_P(StoreConformance, RefusesPagesOutsideItsLimits)
{
    EXPECT_EQ(store().list("", "", 0).error().code, Errc::invalid);
    EXPECT_EQ(store().list("", "", 1001).error().code, Errc::invalid);
}

TEST_P(StoreConformance, ManyReadersAndWritersAtOnce)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 20; ++round) {
                const std::string key = "many/" + std::to_string(i) + "/" + std::to_string(round);
                const std::string content(1000 + static_cast<std::size_t>(round), static_cast<char>('a' + i));
                ASSERT_TRUE(store().put(key, content, Condition::absent()));
                ASSERT_EQ(content_of(key), content);
                ASSERT_TRUE(store().list("many/", "", 1000));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(keys("many/").size(), 80U);
}

}  // namespace shoal::objectstore
