// The tracker's view of a store that hangs.
#include "tracker/library.hpp"

#include "tests/component/net/loopback.hpp"
#include "tests/component/seeder/shelf.hpp"
#include "tests/component/seeder/watched_store.hpp"

#include <gmock/gmock.h>

#include <future>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class HangingStore : public ::testing::Test {
protected:
    HangingStore()
    {
        store.hold_up = [hung = free.get_future().share()] { hung.wait(); };
    }
    void ask()
    {
        library.manifest(
            placed.id, [this](const Result<std::shared_ptr<const std::string>>& answer) { answers.push_back(answer ? "" : answer.error().text()); });
    }
    bool answered(std::size_t count)
    {
        return net::test::run_until(loop, [&] { return answers.size() >= count; });
    }

    seeder::Shelf shelf;
    seeder::Placed placed = shelf.place("llama", {{"a.txt", "a"}});
    std::promise<void> free;
    seeder::WatchedStore store{objectstore::open_store(shelf.url()).value()};
    net::Loop loop;
    Library library{loop, store, 1U << 20U, [] { return Clock::now(); }, 5ms};
    std::vector<std::string> answers;
};

TEST_F(HangingStore, WhoAsksIsAnsweredInTimeAndNotRememberedAndOneReadIsEnough)
{
    for (std::size_t round = 1; round <= 3; ++round) {
        ask();
        ask();
        EXPECT_EQ(library.waiting(), 2U);
        ASSERT_TRUE(answered(2 * round));
        EXPECT_THAT(answers.back(), HasSubstr("no answer within"));
        EXPECT_EQ(library.waiting(), 0U);
    }
    EXPECT_LE(store.gets, 1);
    free.set_value();
    EXPECT_TRUE(net::test::run_until(loop, [&] {
        if (library.cached_bytes() > 0) ask();
        return answers.back().empty();
    }));
    EXPECT_EQ(store.gets, 1);
}

}  // namespace
}  // namespace shoal::tracker
