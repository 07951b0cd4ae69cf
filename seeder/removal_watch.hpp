// Whether the store still holds what is served, asked again and again: one small question for each revision. On the loop; the asking itself is a worker's.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"
#include "common/net/loop.hpp"
#include "common/objectstore/object_store.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace shoal::seeder {

class RemovalWatch {
public:
    using Served = std::function<std::vector<RevisionId>()>;
    using Removed = std::function<void(const RevisionId&, const Error&)>;  // not_found, naming the manifest's key

    RemovalWatch(net::Loop& loop, net::Workers& workers, std::shared_ptr<objectstore::ObjectStore> store, Duration between_looks = std::chrono::seconds{5});

    // Of a store that does not answer nothing is told.
    void start(Served served, Removed removed);

private:
    struct Absence {
        RevisionId revision;
        Error cause;
    };
    using Absences = std::vector<Absence>;
    static Absences look(objectstore::ObjectStore& store, const std::vector<RevisionId>& revisions);
    void ask();
    void heard(const Absences& absences);
    void ask_later();

    net::Loop& loop_;
    net::Workers& workers_;
    std::shared_ptr<objectstore::ObjectStore> store_;
    Duration between_looks_;
    Served served_;
    Removed removed_;
    net::Handle again_;
};

}  // namespace shoal::seeder
