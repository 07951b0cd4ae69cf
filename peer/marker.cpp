#include "peer/marker.hpp"

#include "common/model/manifest.hpp"
#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace shoal::peer {
namespace {

using Json = nlohmann::json;

constexpr int schema = 1;
constexpr int max_depth = 4;

Error malformed(const std::string& cause)
{
    return {Errc::malformed, "marker does not decode: " + cause, {}};
}

// The parser's memory is a multiple of its input only if that does not nest.
bool nests_too_deep(std::string_view text)
{
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\')
            ++i;
        else if (c == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if (c == ']' || c == '}')
            --depth;
    }
    return false;
}

// Reads typed members of one object; remembers the first that is not as it should be.
class Reader {
public:
    explicit Reader(const Json& object) : object_{object} {}

    std::string text(const char* key)
    {
        const Json* found = member(key, Json::value_t::string);
        return found != nullptr ? found->get_ref<const std::string&>() : std::string{};
    }
    bool truth(const char* key)
    {
        const Json* found = member(key, Json::value_t::boolean);
        return found != nullptr && found->get<bool>();
    }
    std::uint64_t count(const char* key)
    {
        const Json* found = member(key, Json::value_t::number_unsigned);
        return found != nullptr ? found->get<std::uint64_t>() : 0;
    }
    std::int64_t integer(const char* key)
    {
        const auto found = object_.find(key);
        if (found == object_.end() || !found->is_number_integer()) return fail(key), 0;
        if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return fail(key), 0;
        return found->get<std::int64_t>();
    }
    std::vector<std::string> texts(const char* key)
    {
        std::vector<std::string> all;
        for (const Json& item : array(key)) {
            if (!item.is_string()) return fail(key), all;
            all.push_back(item.get<std::string>());
        }
        return all;
    }
    const Json::array_t& array(const char* key)
    {
        static const Json::array_t none;
        const Json* found = member(key, Json::value_t::array);
        return found != nullptr ? found->get_ref<const Json::array_t&>() : none;
    }
    void fail(const std::string& key)
    {
        if (wrong_.empty()) wrong_ = key;
    }
    [[nodiscard]] const std::string& wrong() const { return wrong_; }

private:
    const Json* member(const char* key, Json::value_t type)
    {
        const auto found = object_.find(key);
        if (found != object_.end() && found->type() == type) return &*found;
        fail(key);
        return nullptr;
    }
    const Json& object_;
    std::string wrong_;
};

Result<MarkedFile> read_file(const Json& item)
{
    if (!item.is_object()) return failure(malformed("files: not an object"));
    Reader reader{item};
    MarkedFile file{reader.text("path"), reader.count("size"), reader.integer("mtime_ns"), reader.count("inode")};
    if (!reader.wrong().empty()) return failure(malformed("files: " + reader.wrong()));
    if (!model::check_path(file.path)) return failure(malformed("files: path '" + model::printable(file.path) + "'"));
    return file;
}

Result<std::vector<MarkedFile>> read_files(const Json::array_t& items)
{
    if (items.size() > model::max_files) return failure(Errc::too_large, "marker lists more than " + std::to_string(model::max_files) + " files");
    std::vector<MarkedFile> files;
    std::set<std::string_view> seen;
    files.reserve(items.size());
    for (const Json& item : items) {
        BOOST_OUTCOME_TRY(file, read_file(item));
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

Result<Marker> read_marker(const Json& root)
{
    Reader reader{root};
    if (reader.count("schema") != schema) return failure(malformed("schema: expected " + std::to_string(schema)));
    Marker marker;
    marker.model = reader.text("model");
    const Result<RevisionId> revision = parse_revision(reader.text("revision"));
    if (root.contains("tag")) marker.tag = reader.text("tag");
    marker.include = reader.texts("include");
    marker.exclude = reader.texts("exclude");
    marker.whole = reader.truth("whole");
    marker.bytes = reader.count("bytes");
    marker.time = reader.text("time");
    marker.by = reader.text("by");
    marker.manifest = reader.text("manifest");
    marker.layers = unhex(reader.text("layers"));
    const Json::array_t& files = reader.array("files");
    if (!reader.wrong().empty()) return failure(malformed(reader.wrong()));
    if (!revision) return failure(malformed("revision"));
    marker.revision = revision.value();
    if (!model::check_model_name(marker.model)) return failure(malformed("model"));
    BOOST_OUTCOME_TRY(read, read_files(files));
    marker.files = std::move(read);
    return marker;
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
    if (nests_too_deep(bytes)) return failure(malformed("it nests too deep"));
    const Json root = Json::parse(bytes, nullptr, false);
    if (!root.is_object()) return failure(malformed("not a JSON object"));
    return read_marker(root);
}

}  // namespace shoal::peer
