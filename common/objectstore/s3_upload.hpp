// A large object on its way into S3: one put where it is small, parts where it is not. Not thread-safe.
#pragma once

#include "common/objectstore/object_store.hpp"
#include "common/objectstore/s3_call.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::objectstore {

// Bytes of a part: at least 16 MiB, and so many that 9000 parts do.
std::uint64_t part_size(std::uint64_t size);

class S3Upload final : public Upload {
public:
    // `store` is what it puts small ones into and looks with; it outlives this.
    S3Upload(ObjectStore& store, std::shared_ptr<S3Caller> caller, std::string key, std::uint64_t size);
    ~S3Upload() override;

    Result<void> write(ConstBytes bytes) override;
    Result<void> commit() override;

private:
    [[nodiscard]] bool in_parts() const { return size_ > part_size_; }
    Result<void> begin();
    Result<void> send_part();
    Result<void> look_for_the_others(const S3Reply& reply);
    Result<void> make_visible();
    Result<void> complete();
    Result<S3Reply> send_completion(const std::vector<std::string>& conditions);
    void sweep();
    void abort();

    ObjectStore& store_;
    std::shared_ptr<S3Caller> caller_;
    std::string key_;
    std::uint64_t size_;
    std::uint64_t part_size_;
    std::uint64_t written_ = 0;
    std::string pending_;             // a part that is not full yet
    bool there_ = false;              // by others
    std::string id_;                  // of the multipart upload; empty: none is under way
    std::vector<std::string> parts_;  // ETags as answered
};

}  // namespace shoal::objectstore
