#include "seeder/publish.hpp"

#include "common/core/quantity.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/directory_walk.hpp"
#include "common/objectstore/keys.hpp"
#include "common/objectstore/object_store.hpp"
#include "common/obs/log.hpp"
#include "seeder/event_line.hpp"
#include "seeder/hashed_source.hpp"
#include "seeder/labour_watch.hpp"
#include "seeder/source_checks.hpp"
#include "seeder/store_writes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace shoal::seeder {
namespace {

using objectstore::Location;
using objectstore::ObjectStore;

constexpr int most_looks = 3;
constexpr Duration removals_end_within = std::chrono::seconds{10};

class Publication {
public:
    Publication(const PublishOptions& options, const Stop& stop)
        : options_{options}, stop_{stop}, watch_{stop, options.output, options.progress_interval, options.threads, options.origin_limit}
    {}

    Result<void> run()
    {
        begun_ = Clock::now();
        BOOST_OUTCOME_TRY(store, objectstore::open_store(options_.store, [this] { return !stop_.requested(); }));
        store_ = std::move(store);
        origin::OriginGate* const gate = options_.origin_limit == 0 ? nullptr : &watch_.gate();
        BOOST_OUTCOME_TRY(tree, walk_source(options_.source, {options_.links, options_.selection, [this] { return !stop_.requested(); }, gate}));
        tree_ = std::move(tree);
        BOOST_OUTCOME_TRY(refuse_store_inside());
        BOOST_OUTCOME_TRY(lay_out());
        BOOST_OUTCOME_TRY(report_suspicions());
        BOOST_OUTCOME_TRY(source, source_location());
        BOOST_OUTCOME_TRY(identify());
        const model::Layout layout{manifest_};
        BOOST_OUTCOME_TRY(plan, plan_with(layout, source));
        if (options_.dry_run == Dry::no) {
            BOOST_OUTCOME_TRY(execute(layout, source, plan));
        }
        watch_.finish();
        report(plan);
        return success();
    }

private:
    [[nodiscard]] std::optional<std::string> source_directory() const { return objectstore::directory_of(tree_.url); }

    // A copy of the store into itself would never be the same twice.
    Result<void> refuse_store_inside()
    {
        const auto directory = objectstore::directory_of(store_->url());
        if (source_directory() && !directory && options_.placement == Placement::in_place)
            return failure(
                Errc::invalid, "cannot publish in place: " + store_->url() + ": whoever reads that store does not see these files", "copy them, by --copy");
        if (!lies_inside(directory)) return success();
        return failure(Errc::invalid, "cannot publish: " + tree_.name + ": the store " + store_->url() + " lies inside it",
            "give a directory or a prefix beside the store");
    }

    [[nodiscard]] bool lies_inside(const std::optional<std::string>& directory) const
    {
        if (!source_directory()) return (store_->url() + "/").starts_with(tree_.url + "/");
        std::error_code none;
        const std::string place = directory ? std::filesystem::canonical(*directory, none).string() + "/" : "";
        return directory && !none && place.starts_with(*source_directory() + "/") && std::filesystem::is_directory(options_.source);
    }

    // Files of packs are looked at when they are read, which is once; with --strict all are, before anything is written.
    Result<void> report_suspicions()
    {
        for (const std::string& twins : case_twins(tree_))
            obs::log(obs::Level::warning, "names differ only in case, which some filesystems cannot hold: " + twins);
        const auto pack_of = packs_of_files(tree_.files.size(), packs_);
        std::vector<FileIndex> now;
        for (std::uint32_t i = 0; i < tree_.files.size(); ++i)
            if (!pack_of[i] || options_.suspicious == Suspicious::refuse) now.push_back(FileIndex{i});
        BOOST_OUTCOME_TRY(findings, suspicious(watch_.crew(), tree_, now));
        const std::string all = warn(findings);
        if (options_.suspicious == Suspicious::warn || all.empty()) return success();
        return failure(Errc::invalid, "cannot publish: " + tree_.name + ": " + all, "correct the source, or publish it without --strict");
    }

    // All of them in one line.
    static std::string warn(const std::vector<std::string>& findings)
    {
        std::string all;
        for (const std::string& finding : findings) {
            if (finding.empty()) continue;
            obs::log(obs::Level::warning, "suspicious file: " + finding);
            all += (all.empty() ? "" : ", ") + finding;
        }
        return all;
    }

    // Where the files lie, as the store of a publish in place says it.
    Result<Location> source_location() const
    {
        Location location{tree_.url, {}};
        if (options_.placement == Placement::copy) return location;
        for (const SourceFile& file : tree_.files) {
            if (source_directory()) {
                BOOST_OUTCOME_TRY(objectstore::path_of_key(*source_directory(), file.path));
            }
            location.files.push_back({file.path, file.version});
        }
        return location;
    }

    Result<void> lay_out()
    {
        manifest_.model = options_.model;
        manifest_.data_version = options_.data_version;
        manifest_.transform_version = options_.transform_version;
        manifest_.annotations = options_.annotations;
        manifest_.piece_size = options_.piece_size != 0 ? static_cast<std::uint32_t>(options_.piece_size) : model::default_piece_size(tree_.bytes());
        BOOST_OUTCOME_TRY(refuse_too_many_pieces());
        std::vector<std::uint64_t> sizes;
        sizes.reserve(tree_.files.size());
        for (const SourceFile& file : tree_.files) sizes.push_back(file.size);
        packs_ = model::pack_files(sizes, manifest_.piece_size);
        return success();
    }

    Result<void> identify()
    {
        watch_.begin("hashing " + options_.model, tree_.bytes());
        BOOST_OUTCOME_TRY(hashed, hash_source(watch_.crew(), tree_, manifest_.piece_size, packs_, reading()));
        warn(suspicions_);
        fill(manifest_, tree_, hashed, packs_);
        BOOST_OUTCOME_TRY(model::check(manifest_));
        const model::Layout layout{manifest_};
        objects_ = {
            options_.model, {}, model::encode(manifest_), model::encode(layers_of(layout, hashed, packs_of_files(tree_.files.size(), packs_))), options_.tags};
        objects_.revision = model::revision_of(objects_.manifest);
        if (objects_.manifest.size() <= model::max_manifest_bytes) return success();
        return failure(Errc::invalid,
            "manifest is too large: " + options_.model + ": expected at most " + std::to_string(model::max_manifest_bytes) + " bytes, found " +
                std::to_string(objects_.manifest.size()),
            "publish fewer files, or shorter paths");
    }

    // Before hashing, which may take hours.
    Result<void> refuse_too_many_pieces() const
    {
        if (tree_.bytes() / manifest_.piece_size <= model::max_pieces) return success();
        return failure(Errc::invalid,
            "too many pieces: " + options_.model + ": " + std::to_string(tree_.bytes()) + " bytes by pieces of " + std::to_string(manifest_.piece_size) +
                " are more than " + std::to_string(model::max_pieces),
            "give a larger --piece-size, or none");
    }

    [[nodiscard]] Reading reading()
    {
        Reading reading{options_.origin_limit == 0 && source_directory() ? Help::yes : Help::no, {}, {}};
        if (options_.suspicious == Suspicious::warn) {
            suspicions_.resize(tree_.files.size());
            reading.packed = [this](FileIndex file, ConstBytes bytes) { suspicions_[file.value] = suspicion(tree_, tree_.files[file.value], bytes); };
        }
        if (options_.placement == Placement::copy && options_.dry_run == Dry::no)
            reading.pack = [this](const Digest& root, ConstBytes bytes) { return upload_early(root, bytes); };
        return reading;
    }

    // A pack that has been read for its digests is not read again to be copied.
    Result<void> upload_early(const Digest& root, ConstBytes bytes)
    {
        BOOST_OUTCOME_TRY(there, blob_size(*store_, root));
        if (there) return success();  // of a wrong size: the plan replaces it
        BOOST_OUTCOME_TRY(upload, store_->upload(objectstore::blob_key(root), bytes.size()));
        BOOST_OUTCOME_TRY(upload->write(bytes));
        BOOST_OUTCOME_TRY(upload->commit());
        uploaded_early_ += bytes.size();
        return success();
    }

    Result<PublishPlan> plan_with(const model::Layout& layout, const Location& source)
    {
        BOOST_OUTCOME_TRY(facts, look(*store_, objects_, manifest_));
        BOOST_OUTCOME_TRY(blobs, blob_sizes(layout));
        facts.blobs = std::move(blobs);
        return plan_publish(layout, options_.placement, source, facts);
    }

    Result<std::vector<std::optional<std::uint64_t>>> blob_sizes(const model::Layout& layout)
    {
        std::vector<std::optional<std::uint64_t>> sizes(layout.files().size());
        BOOST_OUTCOME_TRY(watch_.crew().run(sizes.size(), [&](std::size_t i) -> Result<void> {
            BOOST_OUTCOME_TRY(size, blob_size(*store_, layout.files()[i].pieces_root));
            sizes[i] = size;
            return success();
        }));
        return sizes;
    }

    Result<void> execute(const model::Layout& layout, const Location& source, const PublishPlan& plan)
    {
        BOOST_OUTCOME_TRY(upload(layout, plan));
        BOOST_OUTCOME_TRY(tree_.check_unchanged(watch_.crew()));
        if (stop_.requested()) return failure(Crew::given_up());
        BOOST_OUTCOME_TRY(write_names(*store_, objects_, plan));
        return outlast_removals(layout, source);
    }

    // What was there may have been removed, with this revision or another one, before our names said that it is needed: it is put back. Removals that began
    // before are waited for: they announce themselves before they look at who shares their blobs.
    Result<void> outlast_removals(const model::Layout& layout, const Location& source)
    {
        for (int looks = 1;; ++looks) {
            BOOST_OUTCOME_TRY(wait_for_removals(*store_, manifest_, removals_end_within, [this] { return !stop_.requested(); }));
            BOOST_OUTCOME_TRY(again, plan_with(layout, source));
            if (!again.lacks_anything()) return success();
            if (looks == most_looks) break;
            BOOST_OUTCOME_TRY(upload(layout, again));
            again.tags.clear();  // set once; somebody may have moved them since
            BOOST_OUTCOME_TRY(write_names(*store_, objects_, again));
        }
        return failure(Errc::integrity, "revision was removed while it was published: " + options_.model + " " + to_string(objects_.revision),
            "publish it again when nobody removes it");
    }

    Result<void> upload(const model::Layout& layout, const PublishPlan& plan)
    {
        watch_.begin("copying " + options_.model, plan.upload_bytes);
        for (const SwarmFileIndex file : plan.replace) {
            obs::log(obs::Level::warning, "a blob of a wrong size is replaced: " + model::printable(layout.files()[file.value].path));
            BOOST_OUTCOME_TRY(store_->remove(objectstore::blob_key(layout.files()[file.value].pieces_root)));
        }
        const auto pack_of = packs_of_files(tree_.files.size(), packs_);
        std::vector<const model::SwarmFile*> alone;
        for (const SwarmFileIndex index : plan.upload) {
            const model::SwarmFile& file = layout.files()[index.value];
            if (!pack_of[file.files.front().value]) {
                alone.push_back(&file);
            } else {
                BOOST_OUTCOME_TRY(upload_pack(file));
            }
        }
        std::stable_sort(alone.begin(), alone.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
        return watch_.crew().run(alone.size(), [&](std::size_t i) -> Result<void> {
            const SourceFile& file = tree_.files[alone[i]->files.front().value];
            BOOST_OUTCOME_TRY(copied, copied_by_the_store(file, *alone[i]));
            if (copied) return success();
            return copy_file(watch_.crew(), *store_, {file.path, file.content, 0}, alone[i]->pieces_root, manifest_.piece_size);
        });
    }

    // What it copies has the ETag of what was hashed.
    Result<bool> copied_by_the_store(const SourceFile& file, const model::SwarmFile& blob)
    {
        if (!tree_.store) return false;
        auto copied = store_->copy_from(*tree_.store, {file.path, file.size, file.version}, objectstore::blob_key(blob.pieces_root));
        if (!copied && (copied.error().code == Errc::changed || copied.error().code == Errc::not_found))
            return failure(source_changed(tree_.name + " key '" + model::printable(file.path) + "'", file.size, "another version"));
        if (copied && copied.value()) watch_.crew().count(file.size);
        return copied;
    }

    Result<void> upload_pack(const model::SwarmFile& pack)
    {
        std::vector<Digest> sha256;
        sha256.reserve(pack.files.size());
        for (const FileIndex file : pack.files) sha256.push_back(manifest_.files[file.value].sha256);
        return copy_pack(watch_.crew(), *store_, pack_parts(tree_, pack.files), sha256, pack.pieces_root);
    }

    void report(const PublishPlan& plan) const
    {
        const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
        const bool dry = options_.dry_run == Dry::yes;
        const std::uint64_t new_bytes = uploaded_early_ + plan.upload_bytes;
        const std::string revision = to_string(objects_.revision);
        obs::log(obs::Level::info,
            dry                                       ? "would publish"
            : plan.writes_nothing() && new_bytes == 0 ? "published before, nothing new"
                                                      : "published",
            {{"model", options_.model}, {"revision", revision}, {"files", std::to_string(tree_.files.size())}, {"bytes", format_size(tree_.bytes())},
                {"new", format_size(new_bytes)}, {"piece_size", format_size(manifest_.piece_size)}});
        if (options_.output == Output::text) return print_line(revision);
        nlohmann::ordered_json event{{"event", "published"}, {"model", options_.model}, {"revision", revision}, {"files", tree_.files.size()},
            {"bytes", tree_.bytes()}, {"new_bytes", new_bytes}, {"seconds", seconds}, {"tags", options_.tags}};
        if (dry) event["dry_run"] = true;
        print_event(event);
    }

    const PublishOptions& options_;
    const Stop& stop_;
    LabourWatch watch_;
    TimePoint begun_{};
    std::unique_ptr<ObjectStore> store_;
    SourceTree tree_;
    model::Manifest manifest_;
    std::vector<std::vector<FileIndex>> packs_;
    std::vector<std::string> suspicions_;  // of files in packs
    SmallObjects objects_;
    std::uint64_t uploaded_early_ = 0;
};

Result<void> check_names(const PublishOptions& options)
{
    BOOST_OUTCOME_TRY(model::check_model_name(options.model));
    for (const std::string& tag : options.tags) {
        BOOST_OUTCOME_TRY(model::check_tag(tag));
    }
    const std::uint64_t piece = options.piece_size;
    if (piece == 0 || (piece >= model::min_piece_size && piece <= model::max_piece_size && (piece & (piece - 1)) == 0)) return success();
    return failure(Errc::invalid, "--piece-size: " + std::to_string(piece) + ": expected a power of two from 256 KiB to 16 MiB");
}

void tell_what_changes_the_revision(const PublishOptions& options)
{
    if (options.piece_size != 0) obs::log(obs::Level::info, "--piece-size is part of the revision: another size gives another revision of the same files");
    if (!options.annotations.empty()) obs::log(obs::Level::info, "annotations are part of the revision: others give another revision of the same files");
}

}  // namespace

Result<void> publish(const PublishOptions& options, const Stop& stop)
{
    BOOST_OUTCOME_TRY(check_names(options));
    tell_what_changes_the_revision(options);
    return Publication{options, stop}.run();
}

}  // namespace shoal::seeder
