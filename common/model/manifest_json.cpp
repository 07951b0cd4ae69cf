// The manifest's JSON: read strictly, written canonically.
#include "common/json/reader.hpp"
#include "common/model/manifest.hpp"
#include "common/model/names.hpp"

#include <algorithm>

namespace shoal::model {
namespace {

using Json = json::Value;  // sorted by the bytes of their keys, which for ASCII is RFC 8785's order

constexpr std::uint64_t schema = 1;
constexpr json::Shape shape{.max_depth = 4, .max_commas = 500'000};  // manifest, packs, pack, its files; above what max_files and their packs come to

Error malformed(const std::string& what)
{
    return {Errc::malformed, what, {}};
}

Result<File> read_file(const Json& value, std::size_t index)
{
    json::Reader reader{value, "files[" + std::to_string(index) + "]"};
    reader.only({"path", "pieces_root", "sha256", "size"});
    File file;
    file.path = reader.text("path");
    file.size = reader.number("size");
    file.sha256 = reader.digest("sha256");
    if (file.size > 0) file.pieces_root = reader.digest("pieces_root");
    BOOST_OUTCOME_TRY(reader.result());
    return file;
}

Result<Pack> read_pack(const Json& value, std::size_t index)
{
    json::Reader reader{value, "packs[" + std::to_string(index) + "]"};
    reader.only({"files", "pieces_root", "size"});
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
    BOOST_OUTCOME_TRY(reader.result());
    return pack;
}

Result<std::map<std::string, std::string>> read_annotations(const Json& object)
{
    if (!object.is_object()) return failure(malformed("annotations: expected an object"));
    std::map<std::string, std::string> annotations;
    for (const auto& [key, value] : object.items()) {
        if (!value.is_string()) return failure(malformed("annotations: '" + printable(key) + "': expected a string"));
        annotations.emplace(key, value.get_ref<const std::string&>());
    }
    return annotations;
}

// Before anything else is looked at: what another schema's manifest holds is not ours to judge.
Result<void> check_schema(const Json& value)
{
    if (!value.is_object()) return failure(malformed("expected an object"));
    const auto found = value.find("schema");
    if (found == value.end() || !found->is_number_unsigned()) return failure(malformed("schema: expected an integer"));
    if (found->get<std::uint64_t>() == schema) return success();
    return failure(Errc::malformed, "schema: expected " + std::to_string(schema) + ", found " + std::to_string(found->get<std::uint64_t>()),
        "use a version of Shoal that reads this schema");
}

Result<Manifest> read_manifest(const Json& value)
{
    BOOST_OUTCOME_TRY(check_schema(value));
    json::Reader reader{value};
    reader.only({"annotations", "data_version", "files", "model", "packs", "piece_size", "schema", "transform_version"});
    Manifest manifest;
    manifest.model = reader.text("model");
    manifest.piece_size = static_cast<std::uint32_t>(reader.number("piece_size", max_piece_size));
    manifest.data_version = reader.text("data_version");
    manifest.transform_version = reader.text("transform_version");
    const Json& annotations = reader.value("annotations");
    const auto& files = reader.array("files");
    const auto& packs = reader.array("packs");
    BOOST_OUTCOME_TRY(reader.result());
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

Result<Manifest> parse_manifest(std::string_view bytes)
{
    BOOST_OUTCOME_TRY(value, json::parse(bytes, shape));
    return read_manifest(value);
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
    auto manifest = parse_manifest(bytes);
    if (!manifest) return failure(manifest.error().code, "cannot read manifest: " + manifest.error().message, manifest.error().hint);
    if (auto checked = check(manifest.value()); !checked) return failure(Errc::malformed, checked.error().message, checked.error().hint);
    const std::string canonical = encode(manifest.value());
    if (canonical != bytes) return failure(Errc::malformed, "cannot read manifest: " + where_they_differ(bytes, canonical));
    return manifest;
}

}  // namespace shoal::model
