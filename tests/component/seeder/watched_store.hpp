// A store that notes what is asked for, and fails or garbles as told.
#pragma once

#include "common/objectstore/object_store.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace shoal::seeder {

class WatchedStore final : public objectstore::ObjectStore {
public:
    explicit WatchedStore(std::unique_ptr<ObjectStore> inner) : inner_{std::move(inner)} {}

    std::atomic<int> heads{0};
    std::atomic<int> gets{0};
    std::atomic<int> ranges{0};
    std::function<void(const std::string& key, MutableBytes)> garble;  // what was read
    std::function<void()> hold_up;                                     // every get, before it reads

    // The next range reads, in turn, end so.
    void fail_next(const std::vector<Error>& errors)
    {
        const std::lock_guard lock{mutex_};
        failures_.assign(errors.begin(), errors.end());
    }

    [[nodiscard]] const std::string& url() const override { return inner_->url(); }
    Result<objectstore::ObjectInfo> head(const std::string& key) override
    {
        ++heads;
        return inner_->head(key);
    }
    Result<objectstore::Object> get(const std::string& key, std::size_t limit) override
    {
        ++gets;
        if (hold_up) hold_up();
        return inner_->get(key, limit);
    }
    Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<objectstore::Version>& expected) override
    {
        ++ranges;
        const std::lock_guard lock{mutex_};
        if (!failures_.empty()) {
            Error error = failures_.front();
            failures_.pop_front();
            return failure(std::move(error));
        }
        Result<void> read = inner_->get_range(key, offset, out, expected);
        if (read && garble) garble(key, out);
        return read;
    }
    Result<objectstore::Version> put(const std::string& key, std::string_view content, const objectstore::Condition& condition) override
    {
        return inner_->put(key, content, condition);
    }
    Result<std::unique_ptr<objectstore::Upload>> upload(const std::string& key, std::uint64_t size) override { return inner_->upload(key, size); }
    Result<objectstore::Page> list(const std::string& prefix, const std::string& after, std::size_t limit) override
    {
        return inner_->list(prefix, after, limit);
    }
    Result<void> remove(const std::string& key) override { return inner_->remove(key); }

private:
    std::unique_ptr<ObjectStore> inner_;
    std::mutex mutex_;
    std::deque<Error> failures_;
};

}  // namespace shoal::seeder
