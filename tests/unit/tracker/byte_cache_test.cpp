#include "tracker/byte_cache.hpp"

#include <gtest/gtest.h>

namespace shoal::tracker {
namespace {

using namespace std::chrono_literals;

ByteCache::Value value(std::string text)
{
    return std::shared_ptr<const void>{std::make_shared<const std::string>(std::move(text))};
}

TEST(ByteCache, TheLeastRecentlyUsedGoesFirst)
{
    ByteCache cache{3000};
    for (const auto* key : {"a", "b"}) cache.put(key, value(key), 1000, {});
    EXPECT_TRUE(cache.get("a", {}));
    cache.put("c", value("c"), 1000, {});
    EXPECT_TRUE(cache.get("a", {}));
    EXPECT_FALSE(cache.get("b", {}));
    EXPECT_TRUE(cache.get("c", {}));
    EXPECT_LE(cache.bytes(), 3000U);
}

TEST(ByteCache, WhatIsLargerThanAllIsNotKept)
{
    ByteCache cache{1000};
    cache.put("small", value("x"), 1, {});
    cache.put("large", value("x"), 1000, {});
    EXPECT_FALSE(cache.get("large", {}));
    EXPECT_TRUE(cache.get("small", {}));
}

TEST(ByteCache, AnEntryEndsInItsTimeAndPuttingAgainReplacesIt)
{
    ByteCache cache{10'000};
    const TimePoint now{1h};
    cache.put("a", failure(Errc::not_found, "no"), 1, now + 1s);
    EXPECT_FALSE(cache.get("a", now)->has_value());
    EXPECT_FALSE(cache.get("a", now + 1s));
    cache.put("a", value("1"), 5000, {});
    cache.put("a", value("2"), 5000, {});
    EXPECT_EQ(*std::static_pointer_cast<const std::string>(cache.get("a", now)->value()), "2");
    EXPECT_LE(cache.bytes(), 6000U);
}

}  // namespace
}  // namespace shoal::tracker
