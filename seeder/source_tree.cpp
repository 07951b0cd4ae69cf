#include "seeder/source_tree.hpp"

#include "common/model/manifest.hpp"
#include "common/model/names.hpp"
#include "seeder/crew.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <sys/stat.h>

namespace shoal::seeder {
namespace {

constexpr std::size_t max_named = 50;  // complaints told by name; a message must stay readable

std::string in_quotes(const std::string& path)
{
    return "'" + model::printable(path) + "'";
}

// Absolute and without links; empty and errno set if it leads nowhere.
std::string real_path(const files::Path& path)
{
    const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr), &std::free};
    return real ? std::string{real.get()} : std::string{};
}

std::string kind_of(mode_t mode)
{
    if (S_ISFIFO(mode)) return "is a FIFO";
    if (S_ISSOCK(mode)) return "is a socket";
    return "is a device";
}

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

struct Entry {
    std::string name;
    struct stat facts {};  // of a link itself
};

// Sorted by name. Looked at from their directory: the kernel need not walk a long path to each.
Result<std::vector<Entry>> entries_in(const files::Path& directory)
{
    const std::unique_ptr<DIR, CloseDirectory> open{::opendir(directory.c_str())};
    if (!open) return failure(system_error(errno, "cannot read the source", directory.string()));
    std::vector<Entry> entries;
    errno = 0;
    for (const dirent* entry = nullptr; (entry = ::readdir(open.get())) != nullptr; errno = 0) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        entries.push_back({std::string{name}, {}});
        if (::fstatat(::dirfd(open.get()), entry->d_name, &entries.back().facts, AT_SYMLINK_NOFOLLOW) != 0)
            return failure(system_error(errno, "cannot read the source", (directory / name).string()));
    }
    if (errno != 0) return failure(system_error(errno, "cannot read the source", directory.string()));
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
}

class Walker {
public:
    Walker(files::Path root, const WalkOptions& options)
        : options_{options}, inside_{root.string() == "/" ? "/" : root.string() + "/"}, tree_{std::move(root), {}}
    {}

    Result<SourceTree> walk()
    {
        struct stat facts {};
        if (::stat(tree_.root.c_str(), &facts) != 0) return failure(system_error(errno, "cannot read the source", tree_.root.string()));
        BOOST_OUTCOME_TRY(descend("", tree_.root, facts));
        return finish();
    }

    Result<SourceTree> only(const std::string& name, const files::Path& place)
    {
        struct stat facts {};
        if (::stat(place.c_str(), &facts) != 0) return failure(system_error(errno, "cannot read the source", place.string()));
        add(name, place, facts);
        return finish();
    }

private:
    Result<void> descend(const std::string& prefix, const files::Path& directory, const struct stat& facts)
    {
        const auto identity = std::pair{facts.st_dev, facts.st_ino};
        if (std::find(above_.begin(), above_.end(), identity) != above_.end()) {
            complain(prefix.substr(0, prefix.size() - 1), "is a link to a directory above it");
            return success();
        }
        above_.push_back(identity);
        BOOST_OUTCOME_TRY(entries, entries_in(directory));
        for (const Entry& entry : entries) {
            if (!options_.keep_going()) return failure(Crew::given_up());
            BOOST_OUTCOME_TRY(look_at(prefix + entry.name, directory / entry.name, entry.facts));
        }
        above_.pop_back();
        return success();
    }

    Result<void> look_at(const std::string& path, files::Path place, struct stat facts)
    {
        if ((path == ".shoal.json" && S_ISREG(facts.st_mode)) || (path == ".shoal" && S_ISDIR(facts.st_mode))) return success();  // what a fetch left here
        if (S_ISLNK(facts.st_mode) && !follow(path, place, facts)) return success();
        if (S_ISDIR(facts.st_mode)) return descend(path + "/", place, facts);
        add(path, std::move(place), facts);
        if (tree_.files.size() > model::max_files)
            return failure(Errc::invalid, "too many files to publish: " + tree_.root.string() + ": expected at most " + std::to_string(model::max_files),
                "publish parts of it as models of their own, or leave files out by --exclude");
        return success();
    }

    // Makes `facts` those of what the link points to; false if it is refused or of no interest.
    bool follow(const std::string& path, const files::Path& place, struct stat& facts)
    {
        const std::string target = real_path(place);
        const bool dangling = target.empty() || ::stat(place.c_str(), &facts) != 0;
        const bool selected = S_ISDIR(facts.st_mode) ? !options_.selection.excludes(path) : options_.selection.takes(path);
        if (!selected) return false;
        if (dangling) {
            complain(path, errno == ELOOP ? "is a link that leads to itself" : "is a link that leads nowhere");
            return false;
        }
        if (options_.links == Links::inside && !target.starts_with(inside_) && target + "/" != inside_) {
            complain(path, "is a link out of the source");
            links_out_ = true;
            return false;
        }
        return true;
    }

    void add(const std::string& path, files::Path place, const struct stat& facts)
    {
        if (!options_.selection.takes(path)) return;
        if (!S_ISREG(facts.st_mode)) {
            complain(path, kind_of(facts.st_mode));
            return;
        }
        if (const auto storable = model::check_path(path); !storable) {
            const std::string& message = storable.error().message;  // "…: '<path>': <why>"
            complain(path, "cannot be stored: " + message.substr(std::min(message.rfind("': "), message.size() - 3) + 3));
            return;
        }
        files::FileState state;
        state.size = static_cast<std::uint64_t>(facts.st_size);
        state.mtime_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
        state.inode = facts.st_ino;
        state.device = facts.st_dev;
        tree_.files.push_back({path, std::move(place), state});
    }

    void complain(const std::string& path, const std::string& why)
    {
        ++complaints_;
        if (complaints_ <= max_named) told_ += (told_.empty() ? "" : ", ") + in_quotes(path) + " " + why;
    }

    Result<SourceTree> finish()
    {
        if (complaints_ > max_named) told_ += " and " + std::to_string(complaints_ - max_named) + " more";
        if (complaints_ > 0)
            return failure(Errc::invalid, "cannot publish: " + tree_.root.string() + ": " + told_,
                links_out_ ? "--follow-links takes the files that such links point to" : "remove them, or leave them out by --exclude");
        if (tree_.files.empty())
            return failure(Errc::not_found, "nothing to publish: " + tree_.root.string() + ": no file is there, or --include and --exclude leave none");
        std::sort(tree_.files.begin(), tree_.files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
        return std::move(tree_);
    }

    const WalkOptions& options_;
    std::string inside_;  // what the real paths of all that is inside begin with
    SourceTree tree_;
    std::vector<std::pair<dev_t, ino_t>> above_;  // the directories on the way down
    std::string told_;
    std::size_t complaints_ = 0;
    bool links_out_ = false;
};

Error changed(const SourceFile& file, const std::string& found)
{
    return {Errc::integrity,
        "source changed while it was published: " + file.place.string() + ": expected " + std::to_string(file.state.size) + " bytes as first seen, found " +
            found,
        "publish it again when nobody writes to it"};
}

Result<void> compare(const SourceFile& file, const Result<files::FileState>& now)
{
    if (!now && now.error().code == Errc::not_found) return failure(changed(file, "it gone"));
    if (!now) return failure(now.error());
    if (now.value() == file.state) return success();
    const bool same_size = now.value().size == file.state.size;
    return failure(changed(file, same_size ? "other content (written or replaced since)" : std::to_string(now.value().size) + " bytes"));
}

class OpenSourceFile final : public OpenContent {
public:
    OpenSourceFile(const SourceFile& file, files::File open) : file_{file}, open_{std::move(open)} {}

    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        const auto done = files::read_exactly(open_, file_.place, offset, out);
        if (done) return success();
        BOOST_OUTCOME_TRY(compare(file_, files::state_of(open_, file_.place)));  // cut short since
        return failure(done.error());
    }

    void expect(std::uint64_t offset, std::uint64_t length) override { files::read_ahead(open_, offset, length); }

    Result<void> check() override { return check_unchanged(file_); }  // by its name: the same inode, unchanged, is what was read

private:
    const SourceFile& file_;
    files::File open_;
};

}  // namespace

bool Selection::takes(const std::string& path) const
{
    const auto matches = [&](const std::string& glob) { return model::glob_matches(glob, path); };
    return (include.empty() || std::any_of(include.begin(), include.end(), matches)) && !excludes(path);
}

bool Selection::excludes(const std::string& path) const
{
    return std::any_of(
        exclude.begin(), exclude.end(), [&](const std::string& glob) { return model::glob_matches(glob, path) || model::glob_matches(glob, path + "/"); });
}

std::uint64_t SourceTree::bytes() const
{
    std::uint64_t sum = 0;
    for (const SourceFile& file : files) sum += file.state.size;
    return sum;
}

Result<SourceTree> walk_source(const std::string& source, const WalkOptions& options)
{
    const files::Path given{source};
    if (std::find(given.begin(), given.end(), "..") != given.end())
        return failure(Errc::invalid, "cannot publish: " + in_quotes(source) + ": the path has a '..'", "give the directory without it");
    struct stat facts {};
    if (source.empty() || ::stat(source.c_str(), &facts) != 0) {
        const int cause = source.empty() ? ENOENT : errno;
        if (cause == ENOENT || cause == ENOTDIR)
            return failure(Errc::not_found, "source not found: " + in_quotes(source) + ": there is no such directory or file");
        return failure(system_error(cause, "cannot read the source", in_quotes(source)));
    }
    const std::string real = real_path(given);
    if (real.empty()) return failure(system_error(errno, "cannot read the source", in_quotes(source)));
    if (S_ISDIR(facts.st_mode)) return Walker{real, options}.walk();
    if (!S_ISREG(facts.st_mode)) return failure(Errc::invalid, "cannot publish: " + in_quotes(source) + ": " + kind_of(facts.st_mode));
    const std::string directory = real_path(given.has_parent_path() ? given.parent_path() : ".");
    return Walker{directory, options}.only(given.filename(), files::Path{directory} / given.filename());
}

Content content_of(const SourceFile& file)
{
    return {file.state.size, [&file]() -> Result<std::shared_ptr<OpenContent>> {
                auto open = files::open_and_look(file.place);
                if (!open && open.error().code == Errc::not_found) return failure(changed(file, "it gone"));
                if (!open) return failure(open.error());
                BOOST_OUTCOME_TRY(compare(file, open.value().state));
                return std::shared_ptr<OpenContent>{std::make_shared<OpenSourceFile>(file, std::move(open.value().file))};
            }};
}

Result<void> check_unchanged(const SourceFile& file)
{
    return compare(file, files::state_of(file.place));
}

std::vector<std::string> case_twins(const SourceTree& tree)
{
    std::map<std::string, std::string> folded;
    std::vector<std::string> twins;
    for (const SourceFile& file : tree.files) {
        std::string lower = file.path;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        const auto [other, alone] = folded.emplace(std::move(lower), file.path);
        if (!alone) twins.push_back(in_quotes(other->second) + " and " + in_quotes(file.path));
    }
    return twins;
}

}  // namespace shoal::seeder
