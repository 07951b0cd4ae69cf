// SHA-256 (FIPS 180-4) by OpenSSL. One object per stream; not thread-safe.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"

#include <memory>

namespace shoal::crypto {

class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&& other) noexcept;
    Sha256& operator=(Sha256&& other) noexcept;
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void update(ConstBytes bytes);
    Digest finish();  // and starts anew

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

Digest sha256(ConstBytes bytes);

}  // namespace shoal::crypto
