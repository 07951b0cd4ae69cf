#include "peer/marker.hpp"

#include "common/json/reader.hpp"
#include "common/model/manifest.hpp"
#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace shoal::peer {
namespace {

constexpr int schema = 1;
constexpr json::Shape shape{.max_depth = 4, .max_commas = 4 * model::max_files + 100'000};  // a file is four members; the globs of a fetch are the rest

Error malformed(const std::string& what)
{
    return {Errc::malformed, what, {}};
}

Result<MarkedFile> read_file(const json::Value& item, std::size_t index)
{
    json::Reader reader{item, "files[" + std::to_string(index) + "]"};
    MarkedFile file{reader.text("path"), reader.number("size"), reader.integer("mtime_ns"), reader.number("inode", ~std::uint64_t{0})};
    BOOST_OUTCOME_TRY(reader.result());
    if (!model::check_path(file.path)) return failure(malformed("files: path '" + model::printable(file.path) + "'"));
    return file;
}

Result<std::vector<MarkedFile>> read_files(const json::Value::array_t& items)
{
    if (items.size() > model::max_files) return failure(Errc::too_large, "more than " + std::to_string(model::max_files) + " files");
    std::vector<MarkedFile> files;
    std::set<std::string_view> seen;
    files.reserve(items.size());
    for (const json::Value& item : items) {
        BOOST_OUTCOME_TRY(file, read_file(item, files.size()));
        files.push_back(std::move(file));
        if (!seen.insert(files.back().path).second) return failure(malformed("files: path twice"));
    }
    return files;
}

std::string unhex(const std::string& hex)
{
    std::string bytes(hex.size() / 2, '\0');
    if (!from_hex(hex, reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size())) bytes.clear();
    return bytes;
}

Result<Marker> read_marker(const json::Value& root)
{
    json::Reader reader{root};
    if (reader.number("schema") != schema) reader.fail("schema: expected " + std::to_string(schema));
    Marker marker;
    marker.model = reader.text("model");
    const Result<RevisionId> revision = parse_revision(reader.text("revision"));
    if (reader.has("tag")) marker.tag = reader.text("tag");
    marker.include = reader.texts("include");
    marker.exclude = reader.texts("exclude");
    marker.whole = reader.truth("whole");
    marker.bytes = reader.number("bytes");
    marker.time = reader.text("time");
    marker.by = reader.text("by");
    marker.manifest = reader.text("manifest");
    marker.layers = unhex(reader.text("layers"));
    const json::Value::array_t& files = reader.array("files");
    BOOST_OUTCOME_TRY(reader.result());
    if (!revision) return failure(malformed("revision: " + revision.error().message));
    marker.revision = revision.value();
    BOOST_OUTCOME_TRYV(model::check_model_name(marker.model));
    BOOST_OUTCOME_TRY(read, read_files(files));
    marker.files = std::move(read);
    return marker;
}

Result<Marker> parse_marker(std::string_view bytes)
{
    BOOST_OUTCOME_TRY(root, json::parse(bytes, shape));
    return read_marker(root);
}

}  // namespace

std::string encode(const Marker& marker)
{
    nlohmann::ordered_json root;
    root["schema"] = schema;
    root["model"] = marker.model;
    root["revision"] = to_string(marker.revision);
    if (!marker.tag.empty()) root["tag"] = marker.tag;
    root["include"] = marker.include;
    root["exclude"] = marker.exclude;
    root["whole"] = marker.whole;
    root["bytes"] = marker.bytes;
    root["time"] = marker.time;
    root["by"] = marker.by;
    nlohmann::ordered_json& files = root["files"] = nlohmann::ordered_json::array();
    for (const MarkedFile& file : marker.files) files.push_back({{"inode", file.inode}, {"mtime_ns", file.mtime_ns}, {"path", file.path}, {"size", file.size}});
    root["manifest"] = marker.manifest;
    root["layers"] = to_hex(reinterpret_cast<const std::uint8_t*>(marker.layers.data()), marker.layers.size());
    return root.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<Marker> decode_marker(std::string_view bytes)
{
    if (bytes.size() > max_marker_bytes) return failure(Errc::too_large, "marker is larger than " + std::to_string(max_marker_bytes) + " bytes");
    auto marker = parse_marker(bytes);
    if (marker || marker.error().code == Errc::too_large) return marker;
    return failure(Errc::malformed, "marker does not decode: " + marker.error().message);
}

}  // namespace shoal::peer
