// What was read and may be asked for again: bounded by bytes, the least recently used goes first; entries may end by themselves. Pure: time comes in.
// Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/result.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace shoal::tracker {

class ByteCache {
public:
    using Value = Result<std::shared_ptr<const void>>;  // a failure is worth remembering too

    explicit ByteCache(std::size_t limit) : limit_{limit} {}

    // `bytes` is what it costs, `until` when it ends (none: never). Larger than the limit: not kept.
    void put(const std::string& key, Value value, std::size_t bytes, std::optional<TimePoint> until);
    [[nodiscard]] std::optional<Value> get(const std::string& key, TimePoint now);
    void forget(const std::string& key);
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    struct Entry {
        std::string key;
        Value value;
        std::size_t bytes;
        std::optional<TimePoint> until;
    };
    using Entries = std::list<Entry>;  // used last first
    void erase(Entries::iterator entry);

    std::size_t limit_;
    std::size_t bytes_ = 0;
    Entries entries_;
    std::unordered_map<std::string, Entries::iterator> by_key_;
};

}  // namespace shoal::tracker
