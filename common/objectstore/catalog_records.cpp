#include "common/objectstore/catalog.hpp"

#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

namespace shoal::objectstore {
namespace {

using Json = nlohmann::json;

constexpr int location_schema = 1;
constexpr std::size_t max_text = 8192;

Error malformed(const std::string& what)
{
    return {Errc::malformed, "record does not decode: " + what, {}};
}

// An object with exactly these members.
bool has_exactly(const Json& object, std::initializer_list<const char*> names)
{
    if (!object.is_object() || object.size() != names.size()) return false;
    return std::all_of(names.begin(), names.end(), [&](const char* name) { return object.contains(name); });
}

bool is_text(const Json& value)
{
    return value.is_string() && value.get_ref<const std::string&>().size() <= max_text;
}

Result<SourceFile> source_file(const Json& entry)
{
    if (!has_exactly(entry, {"key", "version"}) || !is_text(entry["key"]) || !is_text(entry["version"]))
        return failure(malformed("location: a file needs a key and a version"));
    return SourceFile{entry["key"].get<std::string>(), entry["version"].get<std::string>()};
}

Result<Json> parse(std::string_view bytes, const char* what)
{
    Json json = Json::parse(bytes, nullptr, false);
    if (json.is_discarded()) return failure(malformed(std::string{what} + ": not JSON"));
    return json;
}

}  // namespace

std::string encode(const Location& location)
{
    Json files = Json::array();
    for (const SourceFile& file : location.files) files.push_back({{"key", file.key}, {"version", file.version}});
    return Json{{"schema", location_schema}, {"root", location.root}, {"files", std::move(files)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Location> decode_location(std::string_view bytes, const model::Manifest& manifest)
{
    if (bytes.size() > max_location_bytes) return failure(Errc::too_large, "record is too large: location: " + std::to_string(bytes.size()) + " bytes");
    BOOST_OUTCOME_TRY(json, parse(bytes, "location"));
    if (!has_exactly(json, {"schema", "root", "files"}) || !is_text(json["root"]) || !json["files"].is_array())
        return failure(malformed("location: expected schema, root and files"));
    if (!json["schema"].is_number_integer() || json["schema"] != location_schema) return failure(malformed("location: expected schema 1"));
    Location location{json["root"].get<std::string>(), {}};
    const std::size_t expected = location.root.empty() ? 0 : manifest.files.size();
    if (json["files"].size() != expected)
        return failure(malformed("location: expected " + std::to_string(expected) + " files, found " + std::to_string(json["files"].size())));
    for (const Json& entry : json["files"]) {
        BOOST_OUTCOME_TRY(file, source_file(entry));
        location.files.push_back(std::move(file));
    }
    return location;
}

std::string encode_pointer(const RevisionId& revision)
{
    return R"({"revision":")" + to_string(revision) + R"("})";
}

Result<RevisionId> decode_pointer(std::string_view bytes)
{
    if (bytes.size() > max_record_bytes) return failure(Errc::too_large, "record is too large: " + std::to_string(bytes.size()) + " bytes");
    BOOST_OUTCOME_TRY(json, parse(bytes, "revision"));
    if (!has_exactly(json, {"revision"}) || !is_text(json["revision"])) return failure(malformed("expected {\"revision\":\"sha256:…\"}"));
    auto revision = parse_revision(json["revision"].get_ref<const std::string&>());
    if (!revision) return failure(malformed("expected a revision, found '" + model::printable(json["revision"].get_ref<const std::string&>()) + "'"));
    return revision;
}

}  // namespace shoal::objectstore
