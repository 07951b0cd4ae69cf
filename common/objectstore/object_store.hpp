// What holds published models: keys to bytes. All calls block and are safe from any thread; errors name the store and the key, never a secret.
// A key that is not there is not_found only where the store itself is: of a store that is away nothing is known, which is io.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::objectstore {

// Tells one content of a key from the next (ETag or version id; opaque, not a checksum).
using Version = std::string;

struct ObjectInfo {
    std::string key;
    std::uint64_t size = 0;
    Version version;
};

struct Object {
    std::string content;
    Version version;
};

struct Page {
    std::vector<ObjectInfo> objects;  // by the bytes of their keys
    std::string next;                 // pass as `after` for the next page; empty at the end
};

// What must be so for a put to happen.
struct Condition {
    enum class Kind { always, absent, version } kind = Kind::always;
    Version version;
    static Condition always() { return {}; }
    static Condition absent() { return {Kind::absent, {}}; }
    static Condition is(Version version) { return {Kind::version, std::move(version)}; }
};

// A large object on its way in. Nothing is visible before commit; destroyed without commit it leaves nothing behind.
class Upload {
public:
    Upload() = default;
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;
    virtual ~Upload() = default;
    virtual Result<void> write(ConstBytes bytes) = 0;
    virtual Result<void> commit() = 0;  // put if absent; success too if the key is there by now (immutable, named by content)
};

class ObjectStore {
public:
    ObjectStore() = default;
    ObjectStore(const ObjectStore&) = delete;
    ObjectStore& operator=(const ObjectStore&) = delete;
    virtual ~ObjectStore() = default;

    [[nodiscard]] virtual const std::string& url() const = 0;  // for messages; without credentials

    virtual Result<ObjectInfo> head(const std::string& key) = 0;                // not_found
    virtual Result<Object> get(const std::string& key, std::size_t limit) = 0;  // not_found, too_large
    // Exactly out.size() bytes from `offset`; `expected` of a file indexed in place: changed if another version is there. Cut short: integrity.
    virtual Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<Version>& expected = {}) = 0;
    virtual Result<Version> put(const std::string& key, std::string_view content, const Condition& condition) = 0;  // exists, changed
    virtual Result<std::unique_ptr<Upload>> upload(const std::string& key, std::uint64_t size) = 0;
    // Keys that start with `prefix`, after `after`, at most `limit` (1 to 1000). A prefix that ends in "/" never matches its neighbours.
    virtual Result<Page> list(const std::string& prefix, const std::string& after, std::size_t limit) = 0;
    virtual Result<void> remove(const std::string& key) = 0;  // success if absent
    // Has the store itself make `key` of another store's object, without its bytes passing through here. False: it cannot, copy them. changed: the object is
    // another one now; `key` is not there then.
    virtual Result<bool> copy_from(ObjectStore& /*from*/, const ObjectInfo& /*object*/, const std::string& /*key*/) { return false; }
};

// Whether open_store() understands a URL; invalid, naming what it does understand.
Result<void> check_url(const std::string& url);

// file:///dir (the directory must exist: not_found), or s3://bucket[/prefix] as the AWS_* variables say (the bucket must exist: not_found; what else is
// wrong there: s3_call.hpp). Others: invalid, naming what is understood.
// `keep_going` is asked several times a second while a call waits for a network; once it says no, calls are interrupted.
Result<std::unique_ptr<ObjectStore>> open_store(
    const std::string& url, const std::function<bool()>& keep_going = [] { return true; });

// The URL of a directory with an absolute path; open_store() takes it back to that path ("%" is escaped).
std::string file_url(const std::string& directory);

// The directory of a file:// URL; nothing for others.
std::optional<std::string> directory_of(const std::string& url);

// Whether reads of it cross a network: they are made large and ahead then, and no byte is worth being read twice.
bool is_remote(const ObjectStore& store);

}  // namespace shoal::objectstore
