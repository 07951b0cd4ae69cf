// What is published, as the object store says: read by workers, each thing once at a time, kept in a bounded cache. On the loop.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/core/result.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/object_store.hpp"
#include "tracker/byte_cache.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal::tracker {

// What a manifest says in short.
struct Summary {
    std::string model;
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    std::uint32_t piece_size = 0;
    std::uint32_t pieces = 0;
    std::string data_version, transform_version;
    InfoHash info_hash;
};

class Library {
public:
    template <typename T>
    using Done = std::function<void(Result<std::shared_ptr<const T>>)>;

    static constexpr Duration brief = std::chrono::seconds{1};     // how long what may change is believed, and failures are
    static constexpr Duration believed = std::chrono::seconds{5};  // how long a revision in the cache counts as still in the store
    static constexpr Duration glance = std::chrono::seconds{2};    // for whether it still holds what is in the cache; then that is what is answered

    // `now` is asked on the loop. Who asks is answered timed_out where the store has not within `patience`; that read is waited for by nobody then, and no
    // second one of the same thing begins before it ends.
    Library(net::Loop& loop, objectstore::ObjectStore& store, std::size_t cache_bytes, std::function<TimePoint()> now,
        Duration patience = std::chrono::seconds{20});

    // What is of one revision: not_found some seconds after it was removed from the store; of a store that does not answer, what is in the cache.
    // The bytes that lie in the store. Whoever reads them checks them, and says best what is wrong: bytes that are not the revision's are handed on, not kept.
    void manifest(const RevisionId& revision, Done<std::string> done);
    void layers(const RevisionId& revision, Done<std::string> done);
    // Checked: integrity where the store's bytes are not the revision's.
    void summary(const RevisionId& revision, Done<Summary> done);
    void torrent(const RevisionId& revision, Done<std::string> done);  // bencoded, without "announce"

    void tag(const std::string& model, const std::string& tag, Done<RevisionId> done);
    void models(Done<std::vector<std::string>> done);
    void tags(const std::string& model, Done<objectstore::Listing<objectstore::TagRecord>> done);
    void revisions(const std::string& model, Done<objectstore::Listing<RevisionId>> done);
    void is_published(const std::string& model, const RevisionId& revision, Done<bool> done);  // not_found where it is not

    void probe(std::function<void(Result<void>)> done);  // whether the store answers
    [[nodiscard]] const std::string& url() const { return store_.url(); }
    [[nodiscard]] std::size_t cached_bytes() const { return cache_.bytes(); }
    [[nodiscard]] std::size_t waiting() const;  // questions that wait for the store

private:
    using Value = ByteCache::Value;
    struct Loaded {
        Value value;
        std::size_t bytes = 0;
        bool lasting = false;    // immutable, and right
        Duration until = brief;  // of what is not lasting
    };
    using Load = std::function<Loaded(objectstore::ObjectStore&)>;  // in a worker
    struct Waiter {
        std::function<void(const Value&)> done;
        net::Handle deadline;
    };
    using Flight = std::vector<std::shared_ptr<Waiter>>;

    template <typename T>
    void ask_of(const RevisionId& revision, const std::string& what, Load load, Done<T> done);
    template <typename T>
    void ask(const std::string& key, const Load& load, Done<T> done);
    void ask_value(const std::string& key, Load load, std::function<void(const Value&)> done, Duration within = Duration::max());
    void wait(const std::string& key, std::function<void(const Value&)> done, Duration within);
    void give_up(const std::string& key, const std::shared_ptr<Waiter>& late);
    void forget(const RevisionId& revision);
    void landed(const std::string& key, const Loaded& loaded);

    net::Loop& loop_;
    objectstore::ObjectStore& store_;
    std::function<TimePoint()> now_;
    Duration patience_;
    ByteCache cache_;
    std::unordered_map<std::string, Flight> flights_;
    net::Workers workers_;  // last: its jobs end first
};

}  // namespace shoal::tracker
