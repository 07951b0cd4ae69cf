// Whether the object store answers, asked again and again. On the loop; the asking itself is a worker's.
#pragma once

#include "common/core/clock.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace shoal::seeder {

class StoreWatch {
public:
    StoreWatch(net::Loop& loop, net::Workers& workers, std::shared_ptr<objectstore::ObjectStore> store);

    void start(std::function<void()> first_answer);
    // Why it does not answer; empty: it has in the last 30 s, and not with an error since.
    [[nodiscard]] std::string trouble(TimePoint now) const;

private:
    void ask();
    void heard(const Result<objectstore::Page>& page);

    net::Loop& loop_;
    net::Workers& workers_;
    std::shared_ptr<objectstore::ObjectStore> store_;
    std::function<void()> first_answer_;
    std::optional<TimePoint> answered_at_;
    std::string complaint_;  // about the last answer
    net::Handle again_;
};

}  // namespace shoal::seeder
