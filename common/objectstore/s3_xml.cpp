#include "common/objectstore/s3_xml.hpp"

#include "common/objectstore/s3_request.hpp"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

namespace shoal::objectstore {
namespace {

// Its name without a namespace's prefix.
std::string_view local_name(const pugi::xml_node& node)
{
    const std::string_view name = node.name();
    return name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1);
}

pugi::xml_node child(const pugi::xml_node& parent, std::string_view name)
{
    for (const pugi::xml_node& node : parent.children()) {
        if (local_name(node) == name) return node;
    }
    return {};
}

std::string text(const pugi::xml_node& parent, std::string_view name)
{
    return child(parent, name).text().get();
}

// Values keep their spaces, which a key may end in; entities that a document declares are not read.
bool load(pugi::xml_document& document, std::string_view xml)
{
    constexpr unsigned options = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_ws_pcdata_single;
    return xml.size() <= max_xml && document.load_buffer(xml.data(), xml.size(), options, pugi::encoding_utf8);
}

auto malformed(const std::string& what)
{
    return failure(Errc::malformed, what);
}

// The root element if it has that name.
pugi::xml_node root(const pugi::xml_document& document, std::string_view name)
{
    const pugi::xml_node element = document.document_element();
    return local_name(element) == name ? element : pugi::xml_node{};
}

// With encoding-type=url; "+" is a space.
std::string key_of(const pugi::xml_node& node)
{
    std::string key = text(node, "Key");
    std::replace(key.begin(), key.end(), '+', ' ');
    return percent_decoded(key);
}

Result<ObjectInfo> decode_object(const pugi::xml_node& node)
{
    ObjectInfo object;
    object.key = key_of(node);
    object.version = version_of_etag(text(node, "ETag"));
    const std::string size = text(node, "Size");
    const auto [end, trouble] = std::from_chars(size.data(), size.data() + size.size(), object.size);
    if (object.key.empty() || size.empty() || trouble != std::errc{} || end != size.data() + size.size()) return malformed("an entry without key or size");
    return object;
}

Result<Version> decode_etag_of(std::string_view xml, const char* name)
{
    pugi::xml_document document;
    if (!load(document, xml)) return malformed("not XML");
    const pugi::xml_node result = root(document, name);
    if (!result) return malformed(std::string{"no "} + name);
    return version_of_etag(text(result, "ETag"));
}

}  // namespace

S3Problem decode_problem(std::string_view xml)
{
    constexpr std::size_t most = 300;
    pugi::xml_document document;
    if (!load(document, xml)) return {};
    pugi::xml_node error = document.document_element();
    if (local_name(error) == "ErrorResponse") error = child(error, "Error");  // as STS answers
    if (local_name(error) != "Error") return {};
    return {text(error, "Code").substr(0, 100), text(error, "Message").substr(0, most)};
}

Result<Listing> decode_listing(std::string_view xml)
{
    pugi::xml_document document;
    if (!load(document, xml)) return malformed("not XML");
    const pugi::xml_node result = root(document, "ListBucketResult");
    if (!result) return malformed("no ListBucketResult");
    Listing listing;
    listing.more = text(result, "IsTruncated") == "true";
    for (const pugi::xml_node& node : result.children()) {
        if (local_name(node) != "Contents") continue;
        BOOST_OUTCOME_TRY(object, decode_object(node));
        listing.objects.push_back(std::move(object));
    }
    if (listing.more && listing.objects.empty()) return malformed("a page without entries that is not the last");
    return listing;
}

Result<std::string> decode_upload_id(std::string_view xml)
{
    pugi::xml_document document;
    if (!load(document, xml)) return malformed("not XML");
    std::string id = text(root(document, "InitiateMultipartUploadResult"), "UploadId");
    if (id.empty()) return malformed("no UploadId");
    return id;
}

Result<Version> decode_completed(std::string_view xml)
{
    return decode_etag_of(xml, "CompleteMultipartUploadResult");
}

Result<Version> decode_copied(std::string_view xml)
{
    return decode_etag_of(xml, "CopyObjectResult");
}

Result<std::vector<PendingUpload>> decode_uploads(std::string_view xml)
{
    pugi::xml_document document;
    if (!load(document, xml)) return malformed("not XML");
    const pugi::xml_node result = root(document, "ListMultipartUploadsResult");
    if (!result) return malformed("no ListMultipartUploadsResult");
    std::vector<PendingUpload> uploads;
    for (const pugi::xml_node& node : result.children()) {
        if (local_name(node) == "Upload") uploads.push_back({key_of(node), text(node, "UploadId")});
    }
    return uploads;
}

Result<AssumedRole> decode_assumed_role(std::string_view xml)
{
    pugi::xml_document document;
    if (!load(document, xml)) return malformed("not XML");
    const pugi::xml_node result = child(root(document, "AssumeRoleWithWebIdentityResponse"), "AssumeRoleWithWebIdentityResult");
    const pugi::xml_node keys = child(result, "Credentials");
    AssumedRole role{text(keys, "AccessKeyId"), text(keys, "SecretAccessKey"), text(keys, "SessionToken"), text(keys, "Expiration")};
    if (role.key_id.empty() || role.secret.empty()) return malformed("no credentials");
    return role;
}

Version version_of_etag(std::string_view etag)
{
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
    return Version{etag};
}

}  // namespace shoal::objectstore
