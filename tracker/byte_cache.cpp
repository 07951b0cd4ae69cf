#include "tracker/byte_cache.hpp"

#include <iterator>
#include <utility>

namespace shoal::tracker {
namespace {

constexpr std::size_t overhead = 256;  // of an entry, about

}  // namespace

void ByteCache::put(const std::string& key, Value value, std::size_t bytes, std::optional<TimePoint> until)
{
    forget(key);
    const std::size_t cost = bytes + key.size() + overhead;
    if (cost > limit_) return;
    while (bytes_ + cost > limit_) erase(std::prev(entries_.end()));
    entries_.push_front({key, std::move(value), cost, until});
    by_key_.emplace(key, entries_.begin());
    bytes_ += cost;
}

std::optional<ByteCache::Value> ByteCache::get(const std::string& key, TimePoint now)
{
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return std::nullopt;
    if (known->second->until && now >= *known->second->until) {
        erase(known->second);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->value;
}

void ByteCache::forget(const std::string& key)
{
    if (const auto known = by_key_.find(key); known != by_key_.end()) erase(known->second);
}

void ByteCache::erase(Entries::iterator entry)
{
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    entries_.erase(entry);
}

}  // namespace shoal::tracker
