// An object store that is a bucket of S3, or the keys of one below a prefix. Any thread; calls block until their deadline (s3_call.hpp).
//
// A version is the key's ETag: writing what was there before brings its version back. What a record must be before it is written is left to the store
// (If-None-Match, If-Match). Where it does not know those, which the first such write finds out, we look before we write: safe with one writer.
#pragma once

#include "common/objectstore/object_store.hpp"
#include "common/objectstore/s3_call.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace shoal::objectstore {

class S3Store final : public ObjectStore {
public:
    explicit S3Store(std::shared_ptr<S3Caller> caller);

    // As the environment says. not_found: there is no such bucket.
    static Result<std::unique_ptr<ObjectStore>> open(
        const S3Location& location, const Environment& environment, const S3Limits& limits = {}, const S3Clock& clock = S3Clock::real());

    [[nodiscard]] const std::string& url() const override { return caller_->url(); }
    Result<ObjectInfo> head(const std::string& key) override;
    Result<Object> get(const std::string& key, std::size_t limit) override;
    Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<Version>& expected = {}) override;
    Result<Version> put(const std::string& key, std::string_view content, const Condition& condition) override;
    Result<std::unique_ptr<Upload>> upload(const std::string& key, std::uint64_t size) override;
    Result<Page> list(const std::string& prefix, const std::string& after, std::size_t limit) override;
    Result<void> remove(const std::string& key) override;
    Result<bool> copy_from(ObjectStore& from, const ObjectInfo& object, const std::string& key) override;  // of up to 5 GiB, at the same endpoint

private:
    enum class Conditions { unknown, kept, lacking };
    Result<S3Reply> send_copy(const S3Location& from, const std::string& from_key, const std::string& key);
    Result<S3Reply> head_reply(const std::string& key);
    Result<void> check_bucket();
    Result<void> check_end(const std::string& key, std::uint64_t end, const std::optional<Version>& expected);
    Result<void> check_before(const std::string& key, const Condition& condition);
    Result<Version> put_plainly(const std::string& key, std::string_view content);
    Result<S3Reply> send_if(const std::string& key, std::string_view content, const Condition& condition, const std::string& mark);
    Result<Version> put_if(const std::string& key, std::string_view content, const Condition& condition);
    Result<Version> refused(const S3Reply& reply, const std::string& key, const Condition& condition, const std::string& mark);
    void lacks_conditions(const char* how);
    Version find_out(const std::string& key, std::string_view content, Version version);

    std::shared_ptr<S3Caller> caller_;
    std::atomic<Conditions> conditions_{Conditions::unknown};
    std::atomic<bool> bare_etags_{false};
    std::atomic<Clock::rep> bucket_seen_{0};
};

}  // namespace shoal::objectstore
