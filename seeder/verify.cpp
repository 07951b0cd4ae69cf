#include "seeder/verify.hpp"

#include "common/core/quantity.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/catalog.hpp"
#include "common/objectstore/keys.hpp"
#include "common/origin/pack_memory.hpp"
#include "seeder/blob_copy.hpp"
#include "seeder/content_hashing.hpp"
#include "seeder/event_line.hpp"
#include "seeder/hashed_source.hpp"
#include "seeder/labour_watch.hpp"
#include "seeder/stored_content.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <mutex>

namespace shoal::seeder {
namespace {

using objectstore::Location;
using objectstore::ObjectStore;
using objectstore::PublishedRevision;

constexpr std::size_t max_named = 30;

struct Mismatch {
    std::string file;
    std::string key;
    std::string expected;
    std::string found;
    Errc code = Errc::integrity;
    bool operator<(const Mismatch& other) const { return file < other.file; }
};

std::string text_of(const Mismatch& wrong)
{
    return "'" + model::printable(wrong.file) + "' (key " + model::printable(wrong.key) + "): expected " + wrong.expected + ", found " + wrong.found;
}

// What was found to be wrong. Any thread.
class Findings {
public:
    void add(Mismatch wrong)
    {
        const std::lock_guard lock{mutex_};
        wrong_.push_back(std::move(wrong));
    }
    std::vector<Mismatch> take()
    {
        const std::lock_guard lock{mutex_};
        std::sort(wrong_.begin(), wrong_.end());
        return std::move(wrong_);
    }

private:
    std::mutex mutex_;
    std::vector<Mismatch> wrong_;
};

// Whether what went wrong ends it all: a signal does, a damaged file does not.
bool ends_it(const Error& error)
{
    return error.code == Errc::interrupted;
}

Errc worst(Errc code)
{
    return code == Errc::not_allowed || code == Errc::io || code == Errc::timed_out ? code : Errc::integrity;
}

// What the store says of a revision.
struct Published {
    PublishedRevision revision;
    Location location;
    model::Layers layers;
};

class Verification {
public:
    Verification(const VerifyOptions& options, const Stop& stop, ObjectStore& store, ObjectStore* source, Published published)
        : options_{options},
          watch_{stop, options.output, options.progress_interval, options.threads, options.origin_limit},
          store_{store},
          source_{source},
          published_{std::move(published)},
          layout_{published_.revision.manifest}
    {
        const model::Manifest& manifest = published_.revision.manifest;
        std::vector<std::vector<FileIndex>> packs;
        packs.reserve(manifest.packs.size());
        for (const model::Pack& pack : manifest.packs) packs.push_back(pack.files);
        pack_of_ = packs_of_files(manifest.files.size(), packs);
    }

    Result<std::vector<Mismatch>> run()
    {
        watch_.begin("verifying " + options_.model, layout_.bytes());
        BOOST_OUTCOME_TRY(verify_files());
        for (const model::SwarmFile& file : layout_.files()) {
            if (!pack_of_[file.files.front().value]) continue;
            BOOST_OUTCOME_TRY(verify_pack(file));
        }
        watch_.finish();
        return findings_.take();
    }

private:
    [[nodiscard]] const model::File& file(FileIndex index) const { return published_.revision.manifest.files[index.value]; }
    [[nodiscard]] std::string key_of(const model::SwarmFile& swarm_file, FileIndex index) const
    {
        return source_ == nullptr ? objectstore::blob_key(swarm_file.pieces_root) : published_.location.files[index.value].key;
    }

    [[nodiscard]] origin::OriginGate* gate() { return options_.origin_limit == 0 ? nullptr : &watch_.gate(); }

    // A file where it lies, or the blob that is all of it.
    [[nodiscard]] Content whole_file(const model::SwarmFile& swarm_file, FileIndex index)
    {
        if (source_ == nullptr) return content_of(store_, {key_of(swarm_file, index), 0, file(index).size, true, {}}, gate());
        const objectstore::SourceFile& place = published_.location.files[index.value];
        return content_of(*source_, {place.key, 0, file(index).size, true, place.version}, gate());
    }

    Result<void> verify_files()
    {
        std::vector<Content> contents;
        std::vector<const model::SwarmFile*> files;
        for (const model::SwarmFile& swarm_file : layout_.files()) {
            if (pack_of_[swarm_file.files.front().value]) continue;
            files.push_back(&swarm_file);
            contents.push_back(whole_file(swarm_file, swarm_file.files.front()));
        }
        const bool twice = options_.origin_limit == 0 && !objectstore::is_remote(source_ == nullptr ? store_ : *source_);
        return hash_contents(watch_.crew(), contents, layout_.piece_size(), twice ? Help::yes : Help::no,
            [&](std::size_t i, Result<crypto::ContentDigest> digest) -> Result<void> {
                const FileIndex index = files[i]->files.front();
                if (!digest) return note(*files[i], index, digest.error());
                compare(*files[i], index, digest.value().sha256);
                if (digest.value().sha256 == file(index).sha256) compare_tree(*files[i], digest.value().tree);
                return success();
            });
    }

    Result<void> verify_pack(const model::SwarmFile& pack)
    {
        const origin::PackMemory buffer = origin::memory_for_pack(pack.size);
        const MutableBytes bytes{buffer.get(), pack.size};
        std::atomic<bool> whole{true};
        const std::vector<Part> parts = source_ == nullptr ? pieces_of(pack) : files_of(pack);
        BOOST_OUTCOME_TRY(read_parts(watch_.crew(), parts, bytes, [&](std::size_t i, Result<ConstBytes> read) -> Result<void> {
            if (read) return success();
            if (whole.exchange(false) || source_ != nullptr) return note(pack, source_ == nullptr ? pack.files.front() : pack.files[i], read.error());
            return success();
        }));
        if (!whole && source_ == nullptr) return success();
        compare_files(pack, bytes);
        if (!whole) return success();
        BOOST_OUTCOME_TRY(tree, hash_tree(watch_.crew(), bytes, layout_.piece_size()));
        compare_tree(pack, tree);
        return success();
    }

    // Pieces of the blob: few large reads.
    [[nodiscard]] std::vector<Part> pieces_of(const model::SwarmFile& pack)
    {
        std::vector<Part> parts;
        for (std::uint64_t at = 0; at < pack.size; at += layout_.piece_size()) {
            const std::uint64_t length = std::min<std::uint64_t>(layout_.piece_size(), pack.size - at);
            parts.push_back({pack.path, content_of(store_, {objectstore::blob_key(pack.pieces_root), at, length, false, {}}, gate()), at});
        }
        return parts;
    }

    [[nodiscard]] std::vector<Part> files_of(const model::SwarmFile& pack)
    {
        std::vector<Part> parts;
        std::uint64_t offset = 0;
        for (const FileIndex index : pack.files) {
            parts.push_back({file(index).path, whole_file(pack, index), offset});
            offset += file(index).size;
        }
        return parts;
    }

    void compare_files(const model::SwarmFile& pack, ConstBytes bytes)
    {
        std::uint64_t offset = 0;
        for (const FileIndex index : pack.files) {
            compare(pack, index, crypto::sha256(bytes.subspan(offset, file(index).size)));
            offset += file(index).size;
        }
    }

    void compare(const model::SwarmFile& swarm_file, FileIndex index, const Digest& found)
    {
        if (found == file(index).sha256) return;
        findings_.add({file(index).path, key_of(swarm_file, index), "sha256 " + to_hex(file(index).sha256), "sha256 " + to_hex(found)});
    }

    void compare_tree(const model::SwarmFile& swarm_file, const crypto::TreeDigest& tree)
    {
        if (tree.pieces_root == swarm_file.pieces_root && std::equal(tree.layer.begin(), tree.layer.end(), published_.layers.begin() + swarm_file.first_piece))
            return;
        findings_.add({swarm_file.path, key_of(swarm_file, swarm_file.files.front()), "pieces root " + to_hex(swarm_file.pieces_root),
            "pieces root " + to_hex(tree.pieces_root)});
    }

    // A file that could not be read to its end is a finding.
    Result<void> note(const model::SwarmFile& swarm_file, FileIndex index, const Error& error)
    {
        if (ends_it(error)) return failure(error);
        const std::string name = source_ == nullptr ? swarm_file.path : file(index).path;
        findings_.add({name, key_of(swarm_file, index), "sha256 " + to_hex(file(index).sha256), error.message, worst(error.code)});
        return success();
    }

    const VerifyOptions& options_;
    LabourWatch watch_;
    ObjectStore& store_;
    ObjectStore* source_;  // none: blobs of the store
    Published published_;
    model::Layout layout_;
    std::vector<std::optional<std::size_t>> pack_of_;
    Findings findings_;
};

Error failed(const VerifyOptions& options, const std::vector<Mismatch>& wrong, std::size_t files)
{
    std::string all;
    for (std::size_t i = 0; i < std::min(wrong.size(), max_named); ++i) all += (i == 0 ? "" : "; ") + text_of(wrong[i]);
    if (wrong.size() > max_named) all += "; and " + std::to_string(wrong.size() - max_named) + " more";
    const bool damaged = std::any_of(wrong.begin(), wrong.end(), [](const Mismatch& one) { return one.code == Errc::integrity; });
    return {damaged ? Errc::integrity : wrong.front().code,
        "verification failed: " + options.model + " " + options.revision + ": " + std::to_string(wrong.size()) + " of " + std::to_string(files) +
            " files: " + all,
        "remove what is damaged and publish the revision again from its source"};
}

void print_mismatch(const Mismatch& wrong)
{
    print_event({{"event", "mismatch"}, {"file", wrong.file}, {"key", wrong.key}, {"expected", wrong.expected}, {"found", wrong.found}});
}

}  // namespace

Result<void> verify(const VerifyOptions& options, const Stop& stop)
{
    const TimePoint begun = Clock::now();
    BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    BOOST_OUTCOME_TRY(id, parse_revision(options.revision));
    const auto keep_going = [&stop] { return !stop.requested(); };
    BOOST_OUTCOME_TRY(store, objectstore::open_store(options.store, keep_going));
    BOOST_OUTCOME_TRY(objectstore::require_revision(*store, options.model, id));
    BOOST_OUTCOME_TRY(revision, objectstore::load_manifest(*store, id));
    const model::Layout layout{revision.manifest};
    BOOST_OUTCOME_TRY(layer_bytes, objectstore::load_layers(*store, id, layout));
    BOOST_OUTCOME_TRY(layers, model::decode_layers(layer_bytes, layout));
    BOOST_OUTCOME_TRY(location, objectstore::load_location(*store, revision));
    std::unique_ptr<ObjectStore> source;
    if (!location.root.empty()) {
        BOOST_OUTCOME_TRY(opened, objectstore::open_store(location.root, keep_going));
        source = std::move(opened);
    }
    const std::size_t files = revision.manifest.files.size();
    Verification verification{options, stop, *store, source.get(), {std::move(revision), std::move(location), std::move(layers)}};
    BOOST_OUTCOME_TRY(wrong, verification.run());
    if (options.output == Output::json) std::for_each(wrong.begin(), wrong.end(), print_mismatch);
    if (!wrong.empty()) return failure(failed(options, wrong, files));
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    if (options.output == Output::json)
        print_event({{"event", "verified"}, {"model", options.model}, {"revision", options.revision}, {"files", files}, {"bytes", layout.bytes()},
            {"seconds", seconds}});
    else
        print_line("verified " + options.model + " " + options.revision + ": " + std::to_string(files) + " files, " + format_size(layout.bytes()));
    return success();
}

}  // namespace shoal::seeder
