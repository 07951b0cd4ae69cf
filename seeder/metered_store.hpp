// An object store whose reads are counted and kept below a ceiling. Any thread; reads block.
#pragma once

#include "common/objectstore/object_store.hpp"
#include "common/obs/metrics.hpp"
#include "common/origin/origin_gate.hpp"

#include <memory>
#include <string>

namespace shoal::seeder {

// Counts into shoal_origin_bytes_total and shoal_origin_requests_total{operation,code}. Ranges wait at the gate before they are read (interrupted once
// it is closed); whole objects, which are small records, are charged after. Writes pass through.
class MeteredStore final : public objectstore::ObjectStore {
public:
    MeteredStore(std::unique_ptr<ObjectStore> inner, std::shared_ptr<obs::Metrics> metrics, std::shared_ptr<origin::OriginGate> gate);

    [[nodiscard]] const std::string& url() const override { return inner_->url(); }
    Result<objectstore::ObjectInfo> head(const std::string& key) override;
    Result<objectstore::Object> get(const std::string& key, std::size_t limit) override;
    Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<objectstore::Version>& expected = {}) override;
    Result<objectstore::Version> put(const std::string& key, std::string_view content, const objectstore::Condition& condition) override;
    Result<std::unique_ptr<objectstore::Upload>> upload(const std::string& key, std::uint64_t size) override;
    Result<objectstore::Page> list(const std::string& prefix, const std::string& after, std::size_t limit) override;
    Result<void> remove(const std::string& key) override;

private:
    template <typename T>
    Result<T> count(const char* operation, Result<T> result);
    void count_bytes(std::uint64_t bytes);

    std::unique_ptr<ObjectStore> inner_;
    std::shared_ptr<obs::Metrics> metrics_;
    std::shared_ptr<origin::OriginGate> gate_;
};

}  // namespace shoal::seeder
