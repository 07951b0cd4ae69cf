#include "common/crypto/sha256.hpp"

#include <openssl/evp.h>

#include <new>

namespace shoal::crypto {
namespace {

// Fetched once: looking an algorithm up costs more than hashing a kilobyte.
const EVP_MD* algorithm()
{
    static const EVP_MD* const sha256_algorithm = [] {
        EVP_MD* found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        return found != nullptr ? found : EVP_sha256();
    }();
    return sha256_algorithm;
}

// OpenSSL fails here for lack of memory only.
void require(int ok)
{
    if (ok != 1) throw std::bad_alloc{};
}

}  // namespace

struct Sha256::Context {
    Context() : digest(EVP_MD_CTX_new())
    {
        if (digest == nullptr) throw std::bad_alloc{};
    }
    ~Context() { EVP_MD_CTX_free(digest); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    EVP_MD_CTX* digest;
};

Sha256::Sha256() : context_(std::make_unique<Context>())
{
    require(EVP_DigestInit_ex2(context_->digest, algorithm(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(ConstBytes bytes)
{
    require(EVP_DigestUpdate(context_->digest, bytes.data(), bytes.size()));
}

Digest Sha256::finish()
{
    Digest digest;
    require(EVP_DigestFinal_ex(context_->digest, digest.bytes.data(), nullptr));
    require(EVP_DigestInit_ex2(context_->digest, nullptr, nullptr));
    return digest;
}

Digest sha256(ConstBytes bytes)
{
    Sha256 stream;
    stream.update(bytes);
    return stream.finish();
}

}  // namespace shoal::crypto
