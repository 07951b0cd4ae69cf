#include "common/objectstore/s3_xml.hpp"

#include <cstdint>
#include <cstdlib>

// What a store answers in XML never throws, and what is taken of it keeps its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace shoal::objectstore;
    const std::string_view xml{reinterpret_cast<const char*>(data), size};
    const S3Problem problem = decode_problem(xml);
    if (problem.code.size() > 100 || problem.message.size() > 300) std::abort();
    const auto listing = decode_listing(xml);
    if (listing && listing.value().more && listing.value().objects.empty()) std::abort();
    const auto id = decode_upload_id(xml);
    if (id && id.value().empty()) std::abort();
    (void)decode_completed(xml);
    (void)decode_copied(xml);
    (void)decode_uploads(xml);
    const auto role = decode_assumed_role(xml);
    if (role && role.value().secret.empty()) std::abort();
    return 0;
}
