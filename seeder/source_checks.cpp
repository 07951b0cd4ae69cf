#include "seeder/source_checks.hpp"

#include "common/model/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

namespace shoal::seeder {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t max_header = 100U << 20U;  // what safetensors itself allows
constexpr std::uint64_t max_index = 64U << 20U;
constexpr std::size_t head_bytes = 4096;  // so many zeros are suspicious

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> endings)
{
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_weights(std::string_view path)
{
    return ends_with_any(path, {".safetensors", ".gguf", ".bin", ".pt", ".pth", ".onnx", ".h5", ".ckpt", ".msgpack", ".npz", ".tflite"});
}

bool is_web_page(std::string_view head)
{
    std::string start{head.substr(0, 512)};
    start.erase(0, start.find_first_not_of(" \t\r\n\xEF\xBB\xBF"));
    std::transform(start.begin(), start.end(), start.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<?xml");
}

std::uint64_t header_length(std::string_view head)
{
    std::uint64_t length = 0;
    for (std::size_t i = 8; i > 0; --i) length = length << 8U | static_cast<std::uint8_t>(head[i - 1]);
    return length;
}

std::string sentence(const std::string& path, const std::string& why)
{
    return "'" + model::printable(path) + "' " + why;
}

Error ends_before()
{
    return {Errc::malformed, "it ends before", {}};
}

using ReadAt = std::function<Result<std::string>(std::uint64_t offset, std::uint64_t length)>;

Result<std::string> read(const SourceFile& file, std::uint64_t offset, std::uint64_t length)
{
    if (offset > file.size || length > file.size - offset) return failure(ends_before());
    BOOST_OUTCOME_TRY(open, file.content.open());
    std::string bytes(length, '\0');
    BOOST_OUTCOME_TRY(open->read(offset, std::as_writable_bytes(std::span{bytes})));
    return bytes;
}

// Why the file's weights look wrong; empty if they do not, or cannot be read.
std::string look_at_weights(const SourceFile& file, const ReadAt& read)
{
    const std::uint64_t size = file.size;
    const auto head = read(0, std::min<std::uint64_t>(size, head_bytes));
    if (!head) return {};
    if (std::string why = suspicious_weights(file.path, head.value(), size); !why.empty() || !file.path.ends_with(".safetensors")) return why;
    const std::uint64_t length = header_length(head.value());
    const auto header = read(8, length);
    return header ? suspicious_safetensors(header.value(), size - 8 - length) : std::string{};
}

bool is_published(const SourceTree& tree, const std::string& path)
{
    const auto at =
        std::lower_bound(tree.files.begin(), tree.files.end(), path, [](const SourceFile& file, const std::string& wanted) { return file.path < wanted; });
    return at != tree.files.end() && at->path == path;
}

std::string look_at_index(const SourceTree& tree, const SourceFile& file, const ReadAt& read)
{
    if (file.size > max_index) return "is too large for an index";
    const auto content = read(0, file.size);
    if (!content) return {};
    const auto named = indexed_files(content.value());
    if (!named) return named.error().message;
    const std::size_t slash = file.path.rfind('/');
    const std::string directory = slash == std::string::npos ? "" : file.path.substr(0, slash + 1);
    std::string missing;
    std::size_t count = 0;
    for (const std::string& name : named.value()) {
        if (is_published(tree, directory + name) || ++count > 10) continue;
        missing += (missing.empty() ? "" : ", ") + model::printable(name);
    }
    if (count > 10) missing += " and " + std::to_string(count - 10) + " more";
    return missing.empty() ? "" : "names files that are not published: " + missing;
}

std::string finding(const SourceTree& tree, const SourceFile& file, const ReadAt& read)
{
    std::string why;
    if (is_weights(file.path)) why = look_at_weights(file, read);
    if (file.path.ends_with(".index.json")) why = look_at_index(tree, file, read);
    return why.empty() ? why : sentence(file.path, why);
}

}  // namespace

std::string suspicious_weights(std::string_view path, std::string_view head, std::uint64_t size)
{
    if (is_web_page(head)) return "holds a web page in place of weights";
    if (head.starts_with("version https://git-lfs.github.com/spec/")) return "holds a Git LFS pointer in place of weights";
    if (path.ends_with(".safetensors")) {
        if (head.size() < 8) return "is no safetensors file: it is shorter than a header's length";
        const std::uint64_t length = header_length(head);
        if (length < 2 || length > max_header || length > size - 8)
            return "is no safetensors file: its header of " + std::to_string(length) + " bytes cannot be";
    }
    if (path.ends_with(".gguf") && !head.starts_with("GGUF")) return "is no GGUF file: it does not begin with GGUF";
    const std::string_view start = head.substr(0, head_bytes);
    if (!start.empty() && start.find_first_not_of('\0') == std::string_view::npos) return "begins with " + std::to_string(start.size()) + " zero bytes";
    return {};
}

std::string suspicious_safetensors(std::string_view header, std::uint64_t data_bytes)
{
    const Json json = Json::parse(header, nullptr, false);
    if (!json.is_object()) return "is no safetensors file: its header does not parse";
    std::uint64_t end = 0;
    for (const auto& [name, tensor] : json.items()) {
        if (name == "__metadata__") continue;
        const auto offsets = tensor.is_object() ? tensor.find("data_offsets") : tensor.end();
        if (offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2 || !(*offsets)[1].is_number_unsigned())
            return "is no safetensors file: its header gives no place to a tensor";
        end = std::max(end, (*offsets)[1].get<std::uint64_t>());
    }
    if (end == data_bytes) return {};
    return "is cut short or too long: its header speaks of " + std::to_string(end) + " bytes of tensors, found " + std::to_string(data_bytes);
}

Result<std::vector<std::string>> indexed_files(std::string_view index)
{
    const Json json = Json::parse(index, nullptr, false);
    if (!json.is_object()) return failure(Errc::malformed, "is no index: it does not parse");
    const auto map = json.find("weight_map");
    std::set<std::string> files;
    if (map == json.end()) return std::vector<std::string>{};  // an index of something else
    if (!map->is_object()) return failure(Errc::malformed, "is no index: its weight_map is no object");
    for (const auto& [tensor, file] : map->items()) {
        if (!file.is_string()) return failure(Errc::malformed, "is no index: its weight_map names no files");
        files.insert(file.get<std::string>());
    }
    return std::vector<std::string>{files.begin(), files.end()};
}

Result<std::vector<std::string>> suspicious(Crew& crew, const SourceTree& tree, const std::vector<FileIndex>& which)
{
    std::vector<std::string> findings(which.size());
    BOOST_OUTCOME_TRY(crew.run(which.size(), [&](std::size_t i) -> Result<void> {
        const SourceFile& file = tree.files[which[i].value];
        findings[i] = finding(tree, file, [&](std::uint64_t offset, std::uint64_t length) { return read(file, offset, length); });
        return success();
    }));
    findings.erase(std::remove(findings.begin(), findings.end(), ""), findings.end());
    return findings;
}

std::string suspicion(const SourceTree& tree, const SourceFile& file, ConstBytes content)
{
    return finding(tree, file, [&](std::uint64_t offset, std::uint64_t length) -> Result<std::string> {
        const std::string_view all{reinterpret_cast<const char*>(content.data()), content.size()};
        if (offset > all.size() || length > all.size() - offset) return failure(ends_before());
        return std::string{all.substr(offset, length)};
    });
}

}  // namespace shoal::seeder
