// The manifest's JSON: read strictly, written canonically.
#include "common/model/manifest.hpp"
#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

namespace shoal::model {
namespace {

using Json = nlohmann::json;  // objects are sorted by the bytes of their keys, which for ASCII is RFC 8785's order

constexpr std::uint64_t schema = 1;
constexpr std::size_t max_depth = 4;         // manifest, packs, pack, its files
constexpr std::size_t max_commas = 500'000;  // above what max_files and their packs come to: parsing takes 16 bytes and more a value

Error malformed(const std::string& what)
{
    return {Errc::malformed, "cannot read manifest: " + what, {}};
}

// Where the string that begins at `quote` ends: at its other quote, or with the bytes.
std::size_t end_of_string(std::string_view bytes, std::size_t quote)
{
    std::size_t at = quote + 1;
    while (at < bytes.size() && bytes[at] != '"') at += bytes[at] == '\\' ? 2 : 1;
    return at;
}

// Looks at the brackets and commas outside strings, so that parsing cannot take much more memory than a manifest justifies.
Result<void> check_shape(std::string_view bytes)
{
    std::size_t depth = 0;
    std::size_t commas = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char c = bytes[i];
        if (c == '"') i = end_of_string(bytes, i);
        if (c == '{' || c == '[') ++depth;
        if ((c == '}' || c == ']') && depth > 0) --depth;
        if (c == ',') ++commas;
        if (depth > max_depth) return failure(malformed("nested more than " + std::to_string(max_depth) + " deep"));
        if (commas > max_commas) return failure(Errc::too_large, "cannot read manifest: more than " + std::to_string(max_commas) + " values");
    }
    return success();
}

// One JSON object being read: takes its members by name, remembers the first trouble, and where.
class Reader {
public:
    Reader(const Json& object, std::string where, std::initializer_list<const char*> names) : object_(object), where_(std::move(where))
    {
        if (!object.is_object()) {
            fail("expected an object");
            return;
        }
        for (const auto& member : object.items()) {
            const std::string& key = member.key();
            if (std::none_of(names.begin(), names.end(), [&](const char* name) { return key == name; })) fail("unknown key '" + printable(key) + "'");
        }
    }

    const Json& value(const char* name)
    {
        static const Json nothing;
        if (error_) return nothing;
        const auto found = object_.find(name);
        if (found != object_.end()) return *found;
        fail("key '" + std::string{name} + "' is missing");
        return nothing;
    }

    std::string text(const char* name)
    {
        const Json& found = value(name);
        if (found.is_string()) return found.get_ref<const std::string&>();
        fail(std::string{name} + ": expected a string");
        return {};
    }

    std::uint64_t number(const char* name, std::uint64_t most = std::numeric_limits<std::int64_t>::max())
    {
        const Json& found = value(name);
        if (found.is_number_unsigned() && found.get<std::uint64_t>() <= most) return found.get<std::uint64_t>();
        fail(std::string{name} + ": expected an integer from 0 to " + std::to_string(most));
        return 0;
    }

    Digest digest(const char* name)
    {
        const std::string hex = text(name);
        Digest out;
        if (!error_ && !from_hex(hex, out.bytes.data(), Digest::size)) fail(std::string{name} + ": expected 64 lower-case hexadecimal digits");
        return out;
    }

    const Json& array(const char* name)
    {
        static const Json none = Json::array();
        const Json& found = value(name);
        if (found.is_array()) return found;
        fail(std::string{name} + ": expected an array");
        return none;
    }

    void fail(const std::string& what)
    {
        if (!error_) error_ = malformed((where_.empty() ? "" : where_ + ": ") + what);
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    const Json& object_;
    std::string where_;
    std::optional<Error> error_;
};

Result<File> read_file(const Json& json, std::size_t index)
{
    Reader reader{json, "files[" + std::to_string(index) + "]", {"path", "pieces_root", "sha256", "size"}};
    File file;
    file.path = reader.text("path");
    file.size = reader.number("size");
    file.sha256 = reader.digest("sha256");
    if (file.size > 0) file.pieces_root = reader.digest("pieces_root");
    if (reader.error()) return failure(*reader.error());
    return file;
}

Result<Pack> read_pack(const Json& json, std::size_t index)
{
    Reader reader{json, "packs[" + std::to_string(index) + "]", {"files", "pieces_root", "size"}};
    Pack pack;
    for (const Json& file : reader.array("files")) {
        if (!file.is_number_unsigned() || file.get<std::uint64_t>() >= max_files) {
            reader.fail("files: expected indices of files");
            break;
        }
        pack.files.push_back({file.get<std::uint32_t>()});
    }
    pack.size = reader.number("size");
    pack.pieces_root = reader.digest("pieces_root");
    if (reader.error()) return failure(*reader.error());
    return pack;
}

Result<std::map<std::string, std::string>> read_annotations(const Json& json)
{
    if (!json.is_object()) return failure(malformed("annotations: expected an object"));
    std::map<std::string, std::string> annotations;
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string()) return failure(malformed("annotations: '" + printable(key) + "': expected a string"));
        annotations.emplace(key, value.get_ref<const std::string&>());
    }
    return annotations;
}

// Before anything else is looked at: what another schema's manifest holds is not ours to judge.
Result<void> check_schema(const Json& json)
{
    if (!json.is_object()) return failure(malformed("expected an object"));
    const auto found = json.find("schema");
    if (found == json.end() || !found->is_number_unsigned()) return failure(malformed("schema: expected an integer"));
    if (found->get<std::uint64_t>() == schema) return success();
    return failure(Errc::malformed,
        "cannot read manifest: schema: expected " + std::to_string(schema) + ", found " + std::to_string(found->get<std::uint64_t>()),
        "use a version of Shoal that reads this schema");
}

Result<Manifest> read_manifest(const Json& json)
{
    BOOST_OUTCOME_TRY(check_schema(json));
    Reader reader{json, "", {"annotations", "data_version", "files", "model", "packs", "piece_size", "schema", "transform_version"}};
    Manifest manifest;
    manifest.model = reader.text("model");
    manifest.piece_size = static_cast<std::uint32_t>(reader.number("piece_size", max_piece_size));
    manifest.data_version = reader.text("data_version");
    manifest.transform_version = reader.text("transform_version");
    const Json& annotations = reader.value("annotations");
    const Json& files = reader.array("files");
    const Json& packs = reader.array("packs");
    if (reader.error()) return failure(*reader.error());
    BOOST_OUTCOME_TRY(read, read_annotations(annotations));
    manifest.annotations = std::move(read);
    for (const Json& entry : files) {
        BOOST_OUTCOME_TRY(file, read_file(entry, manifest.files.size()));
        manifest.files.push_back(std::move(file));
    }
    for (const Json& entry : packs) {
        BOOST_OUTCOME_TRY(pack, read_pack(entry, manifest.packs.size()));
        manifest.packs.push_back(std::move(pack));
    }
    return manifest;
}

// A string as JSON writes it. check() admits UTF-8 alone, so nothing is replaced.
std::string quoted(const std::string& text)
{
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Written without a tree of JSON values, which would take ten times as long: members in the order of their names.
void append(std::string& out, const File& file)
{
    out += "{\"path\":" + quoted(file.path);
    if (file.size > 0) out += ",\"pieces_root\":\"" + to_hex(file.pieces_root) + '"';
    out += ",\"sha256\":\"" + to_hex(file.sha256) + "\",\"size\":" + std::to_string(file.size) + '}';
}

void append(std::string& out, const Pack& pack)
{
    out += "{\"files\":[";
    for (const FileIndex& file : pack.files) out += (&file == pack.files.data() ? "" : ",") + std::to_string(file.value);
    out += "],\"pieces_root\":\"" + to_hex(pack.pieces_root) + "\",\"size\":" + std::to_string(pack.size) + '}';
}

template <typename Item>
void append_all(std::string& out, const std::vector<Item>& items)
{
    out += '[';
    for (const Item& item : items) {
        if (&item != items.data()) out += ',';
        append(out, item);
    }
    out += ']';
}

std::string where_they_differ(std::string_view found, std::string_view canonical)
{
    const auto at = std::mismatch(found.begin(), found.end(), canonical.begin(), canonical.end()).first - found.begin();
    return "not canonical at byte " + std::to_string(at);
}

}  // namespace

std::string encode(const Manifest& manifest)
{
    const Json annotations = Json::object_t{manifest.annotations.begin(), manifest.annotations.end()};
    std::string out = "{\"annotations\":" + annotations.dump(-1, ' ', false, Json::error_handler_t::replace);
    out += ",\"data_version\":" + quoted(manifest.data_version) + ",\"files\":";
    append_all(out, manifest.files);
    out += ",\"model\":" + quoted(manifest.model) + ",\"packs\":";
    append_all(out, manifest.packs);
    out += ",\"piece_size\":" + std::to_string(manifest.piece_size) + ",\"schema\":" + std::to_string(schema) +
           ",\"transform_version\":" + quoted(manifest.transform_version) + '}';
    return out;
}

Result<Manifest> decode_manifest(std::string_view bytes)
{
    if (bytes.size() > max_manifest_bytes)
        return failure(
            Errc::too_large, "cannot read manifest: expected at most " + std::to_string(max_manifest_bytes) + " bytes, found " + std::to_string(bytes.size()));
    BOOST_OUTCOME_TRY(check_shape(bytes));
    const Json json = Json::parse(bytes, nullptr, false);
    if (json.is_discarded()) return failure(malformed("not JSON"));
    BOOST_OUTCOME_TRY(manifest, read_manifest(json));
    if (auto checked = check(manifest); !checked) return failure(Errc::malformed, checked.error().message, checked.error().hint);
    const std::string canonical = encode(manifest);
    if (canonical != bytes) return failure(malformed(where_they_differ(bytes, canonical)));
    return manifest;
}

}  // namespace shoal::model
