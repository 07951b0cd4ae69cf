#include "common/objectstore/catalog.hpp"

#include "common/json/reader.hpp"
#include "common/model/names.hpp"

namespace shoal::objectstore {
namespace {

using Json = json::Value;

constexpr int location_schema = 1;
constexpr std::size_t max_text = 8192;

constexpr std::size_t shown_bytes = 40;

Error malformed(const std::string& expected, std::string_view bytes)
{
    const std::string some = bytes.size() > shown_bytes ? " that begin" : "";
    return {Errc::malformed,
        "expected " + expected + ", found " + std::to_string(bytes.size()) + " bytes" + some + " '" + model::printable(bytes.substr(0, shown_bytes)) + "'", {}};
}

// Null if it is not JSON, or not of the shape of a record.
Json parse(std::string_view bytes)
{
    auto value = json::parse(bytes, {.max_depth = 3, .max_commas = 4 * model::max_files});
    return value ? std::move(value).value() : Json{};
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
        return failure(malformed("of each file a key and a version", entry.dump(-1, ' ', true, Json::error_handler_t::replace)));
    return SourceFile{entry["key"].get<std::string>(), entry["version"].get<std::string>()};
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
    if (bytes.size() > max_location_bytes)
        return failure(Errc::too_large, "expected at most " + std::to_string(max_location_bytes) + " bytes, found " + std::to_string(bytes.size()));
    const Json record = parse(bytes);
    if (!has_exactly(record, {"schema", "root", "files"}) || !is_text(record["root"]) || !record["files"].is_array())
        return failure(malformed("JSON with schema, root and files", bytes));
    if (!record["schema"].is_number_integer() || record["schema"] != location_schema) return failure(malformed("schema 1", bytes));
    Location location{record["root"].get<std::string>(), {}};
    const std::size_t expected = location.root.empty() ? 0 : manifest.files.size();
    if (record["files"].size() != expected)
        return failure(Errc::malformed, "expected " + std::to_string(expected) + " files, found " + std::to_string(record["files"].size()));
    for (const Json& entry : record["files"]) {
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
    if (bytes.size() > max_record_bytes)
        return failure(Errc::too_large, "expected at most " + std::to_string(max_record_bytes) + " bytes, found " + std::to_string(bytes.size()));
    const Json record = parse(bytes);
    if (has_exactly(record, {"revision"}) && is_text(record["revision"])) {
        auto revision = parse_revision(record["revision"].get_ref<const std::string&>());
        if (revision) return revision;
    }
    return failure(malformed(R"({"revision":"sha256:<64 hex>"})", bytes));
}

}  // namespace shoal::objectstore
