// Bytes that are hashed or copied, wherever they are: a file of the source, a range of an object. A seam between reading and hashing.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace shoal::seeder {

// Open for reading, by several threads at once.
class OpenContent {
public:
    OpenContent() = default;
    OpenContent(const OpenContent&) = delete;
    OpenContent& operator=(const OpenContent&) = delete;
    virtual ~OpenContent() = default;
    virtual Result<void> read(std::uint64_t offset, MutableBytes out) = 0;
    virtual void expect(std::uint64_t offset, std::uint64_t length) = 0;  // will be read soon
    virtual Result<void> check() = 0;                                     // after the last read: what was read is still what is there
};

struct Content {
    std::uint64_t size = 0;
    std::function<Result<std::shared_ptr<OpenContent>>()> open;
    bool far = false;  // reads wait for a network
};

}  // namespace shoal::seeder
