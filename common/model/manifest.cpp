#include "common/model/manifest.hpp"

#include "common/core/utf8.hpp"
#include "common/crypto/sha256.hpp"
#include "common/model/names.hpp"

#include <algorithm>
#include <bit>

namespace shoal::model {
namespace {

Error invalid(const std::string& what)
{
    return {Errc::invalid, "cannot use manifest: " + what, {}};
}

bool is_annotation_key(std::string_view key)
{
    const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
    if (key.empty() || key.size() > max_annotation_key || !alphanumeric(key.front())) return false;
    return std::all_of(key.begin(), key.end(), [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '/'; });
}

bool is_text(std::string_view text, std::size_t limit)
{
    return text.size() <= limit && is_utf8(text);
}

Result<void> check_provenance(const Manifest& manifest)
{
    if (!is_text(manifest.data_version, max_version_bytes)) return failure(invalid("data_version: expected UTF-8 text of at most 1024 bytes"));
    if (!is_text(manifest.transform_version, max_version_bytes)) return failure(invalid("transform_version: expected UTF-8 text of at most 1024 bytes"));
    if (manifest.annotations.size() > max_annotations)
        return failure(invalid("annotations: expected at most 256, found " + std::to_string(manifest.annotations.size())));
    for (const auto& [key, value] : manifest.annotations) {
        if (!is_annotation_key(key))
            return failure(invalid("annotation '" + printable(key) + "': expected a key of at most 128 letters, digits, '.', '_', '-', '/'"));
        if (!is_text(value, max_annotation_value)) return failure(invalid("annotation '" + key + "': expected UTF-8 text of at most 4096 bytes"));
    }
    return success();
}

Result<void> check_piece_size(std::uint32_t size)
{
    if (std::has_single_bit(size) && size >= min_piece_size && size <= max_piece_size) return success();
    return failure(invalid("piece size: expected a power of two from 256 KiB to 16 MiB, found " + std::to_string(size)));
}

// `files` are sorted, so what would be a directory is found by search.
bool is_file(const std::vector<File>& files, std::string_view path)
{
    const auto at = std::lower_bound(files.begin(), files.end(), path, [](const File& file, std::string_view wanted) { return file.path < wanted; });
    return at != files.end() && at->path == path;
}

Result<void> check_directories(const std::vector<File>& files)
{
    for (const File& file : files) {
        const std::string_view path = file.path;
        for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
            if (is_file(files, path.substr(0, slash)))
                return failure(invalid("'" + printable(path.substr(0, slash)) + "' is a file and the directory of '" + printable(path) + "'"));
        }
    }
    return success();
}

const Digest& digest_of_nothing()
{
    static const Digest digest = crypto::sha256({});
    return digest;
}

Result<void> check_file(const File& file)
{
    BOOST_OUTCOME_TRY(check_path(file.path));
    if (file.size > max_file_bytes) return failure(invalid("'" + printable(file.path) + "': larger than a revision can be"));
    if ((file.size == 0) != file.pieces_root.is_zero()) return failure(invalid("'" + printable(file.path) + "': a file has a pieces root unless it is empty"));
    if (file.size == 0 && file.sha256 != digest_of_nothing()) return failure(invalid("'" + printable(file.path) + "': not the digest of an empty file"));
    return success();
}

Result<void> check_files(const std::vector<File>& files)
{
    if (files.empty()) return failure(invalid("it has no files"));
    if (files.size() > max_files) return failure(invalid("files: expected at most " + std::to_string(max_files) + ", found " + std::to_string(files.size())));
    const File* previous = nullptr;
    for (const File& file : files) {
        BOOST_OUTCOME_TRY(check_file(file));
        if (previous != nullptr && previous->path == file.path) return failure(invalid("'" + printable(file.path) + "' is there twice"));
        if (previous != nullptr && previous->path > file.path)
            return failure(invalid("'" + printable(file.path) + "' comes after '" + printable(previous->path) + "': expected the order of the paths' bytes"));
        previous = &file;
    }
    return check_directories(files);
}

std::uint64_t pieces_in(std::uint64_t size, std::uint32_t piece_size)
{
    return (size + piece_size - 1) / piece_size;
}

// Files that share no pack, and packs.
std::uint64_t count_pieces(const Manifest& manifest)
{
    const bool packed = !manifest.packs.empty();
    std::uint64_t pieces = 0;
    for (const File& file : manifest.files)
        if (!packed || file.size >= manifest.piece_size) pieces += pieces_in(file.size, manifest.piece_size);
    for (const Pack& pack : manifest.packs) pieces += pieces_in(pack.size, manifest.piece_size);
    return pieces;
}

Result<void> check_packs(const Manifest& manifest)
{
    std::vector<std::uint64_t> sizes;
    for (const File& file : manifest.files) sizes.push_back(file.size);
    const auto expected = pack_files(sizes, manifest.piece_size);
    if (expected.size() != manifest.packs.size())
        return failure(invalid("packs: expected " + std::to_string(expected.size()) + ", found " + std::to_string(manifest.packs.size())));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Pack& pack = manifest.packs[i];
        std::uint64_t size = 0;
        for (const FileIndex index : expected[i]) size += sizes[index.value];
        if (pack.files != expected[i] || pack.size != size || pack.pieces_root.is_zero())
            return failure(invalid("packs: pack " + std::to_string(i) + " is not what the files' sizes give"));
    }
    return success();
}

}  // namespace

std::uint64_t Manifest::bytes() const
{
    std::uint64_t sum = 0;
    for (const File& file : files) sum += file.size;
    return sum;
}

Result<void> check(const Manifest& manifest)
{
    BOOST_OUTCOME_TRY(check_model_name(manifest.model));
    BOOST_OUTCOME_TRY(check_piece_size(manifest.piece_size));
    BOOST_OUTCOME_TRY(check_provenance(manifest));
    BOOST_OUTCOME_TRY(check_files(manifest.files));
    BOOST_OUTCOME_TRY(check_packs(manifest));
    const std::uint64_t pieces = count_pieces(manifest);
    if (pieces > max_pieces)
        return failure(Errc::invalid,
            "cannot use manifest: it has " + std::to_string(pieces) + " pieces of " + std::to_string(manifest.piece_size) + " bytes: expected at most " +
                std::to_string(max_pieces),
            "choose a larger piece size, at most 16 MiB");
    return success();
}

RevisionId revision_of(std::string_view manifest_bytes)
{
    return {crypto::sha256(as_bytes(manifest_bytes)).bytes};
}

}  // namespace shoal::model
