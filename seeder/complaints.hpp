// What of a source no revision can hold, told in one message. Not thread-safe.
#pragma once

#include "common/core/result.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace shoal::seeder {

class Complaints {
public:
    void add(const std::string& path, const std::string& why);
    // Whether a path can be stored; complains if not.
    bool takes(const std::string& path);
    // invalid, naming the source and the first fifty paths; nothing if there were none.
    [[nodiscard]] std::optional<Error> error(const std::string& source, const char* hint) const;

private:
    std::string told_;
    std::size_t count_ = 0;
};

}  // namespace shoal::seeder
