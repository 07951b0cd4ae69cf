#include "common/model/torrent.hpp"

#include "common/crypto/sha256.hpp"

#include <cstdint>
#include <map>
#include <string_view>

namespace shoal::model {
namespace {

// BEP 3's encoding. The keys of a dictionary are written in the order of their bytes: the caller's duty.
void append(std::string& out, std::string_view text)
{
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

void append(std::string& out, std::uint64_t number)
{
    out += 'i';
    out += std::to_string(number);
    out += 'e';
}

std::string_view raw(const Digest& digest)
{
    return {reinterpret_cast<const char*>(digest.bytes.data()), Digest::size};
}

// A file under its last part: {"": {"length": n, "pieces root": r}}
void append_leaf(std::string& out, std::string_view name, const SwarmFile& file)
{
    append(out, name);
    out += 'd';
    append(out, std::string_view{});
    out += 'd';
    append(out, std::string_view{"length"});
    append(out, file.size);
    append(out, std::string_view{"pieces root"});
    append(out, raw(file.pieces_root));
    out += "ee";
}

// Length of the directories, each with its "/", that two paths share.
std::size_t shared_directories(std::string_view left, std::string_view right)
{
    std::size_t shared = 0;
    for (std::size_t i = 0; i < left.size() && i < right.size() && left[i] == right[i]; ++i)
        if (left[i] == '/') shared = i + 1;
    return shared;
}

// Closes the directories of `path` below its first `keep` bytes.
void close_directories(std::string& out, std::string_view path, std::size_t keep)
{
    for (std::size_t i = keep; i < path.size(); ++i)
        if (path[i] == '/') out += 'e';
}

// The files come in the tree's order, so each directory is opened and closed once.
std::string file_tree(const Layout& layout)
{
    std::string out = "d";
    std::string_view previous;
    for (const SwarmFile& file : layout.files()) {
        const std::string_view path = file.path;
        const std::size_t shared = shared_directories(previous, path);
        close_directories(out, previous, shared);
        std::size_t from = shared;
        for (std::size_t slash = path.find('/', from); slash != std::string_view::npos; slash = path.find('/', from)) {
            append(out, path.substr(from, slash - from));
            out += 'd';
            from = slash + 1;
        }
        append_leaf(out, path.substr(from), file);
        previous = path;
    }
    close_directories(out, previous, 0);
    return out + 'e';
}

// What a secret leaves in the info dictionary: bound to the revision, and nothing to learn the secret from.
Digest capability(const Digest& key, const RevisionId& revision)
{
    crypto::Sha256 stream;
    stream.update(std::as_bytes(std::span{key.bytes}));
    stream.update(std::as_bytes(std::span{revision.bytes}));
    return stream.finish();
}

// {"<root>": layer} of the swarm files of more than one piece; equal files share one.
std::string piece_layers(const Layout& layout, const Layers& layers)
{
    std::map<Digest, const SwarmFile*> by_root;
    for (const SwarmFile& file : layout.files())
        if (file.pieces > 1) by_root.emplace(file.pieces_root, &file);
    std::string out = "d";
    for (const auto& [root, file] : by_root) {
        append(out, raw(root));
        const auto first = layers.begin() + file->first_piece;
        append(out, encode(Layers{first, first + file->pieces}));
    }
    return out + 'e';
}

}  // namespace

std::string info_dictionary(const Layout& layout, const RevisionId& revision, const SwarmKey& key)
{
    std::string out = "d";
    append(out, std::string_view{"file tree"});
    out += file_tree(layout);
    append(out, std::string_view{"meta version"});
    append(out, std::uint64_t{2});
    append(out, std::string_view{"name"});
    append(out, to_hex(revision));
    append(out, std::string_view{"piece length"});
    append(out, std::uint64_t{layout.piece_size()});
    append(out, std::string_view{"private"});
    append(out, std::uint64_t{1});
    if (key) {
        append(out, std::string_view{"shoal"});
        append(out, raw(capability(*key, revision)));
    }
    return out + 'e';
}

std::string torrent_file(const Layout& layout, const Layers& layers, const RevisionId& revision, const SwarmKey& key)
{
    std::string out = "d";
    append(out, std::string_view{"info"});
    out += info_dictionary(layout, revision, key);
    append(out, std::string_view{"piece layers"});
    out += piece_layers(layout, layers);
    return out + 'e';
}

InfoHash info_hash(const Layout& layout, const RevisionId& revision, const SwarmKey& key)
{
    return {crypto::sha256(as_bytes(info_dictionary(layout, revision, key))).bytes};
}

}  // namespace shoal::model
