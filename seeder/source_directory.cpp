#include "seeder/source_tree.hpp"

#include "common/files/file.hpp"
#include "common/model/manifest.hpp"
#include "common/model/names.hpp"
#include "common/objectstore/directory_walk.hpp"
#include "seeder/rationed_content.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace shoal::seeder {
namespace {

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

// A file as it was when it was first seen.
struct SeenFile {
    files::Path place;
    files::FileState state;
};

using SeenFiles = std::vector<std::shared_ptr<const SeenFile>>;

Result<void> compare(const SeenFile& file, const Result<files::FileState>& now)
{
    const std::string name = file.place.string();
    if (!now && now.error().code == Errc::not_found) return failure(source_changed(name, file.state.size, "it gone"));
    if (!now) return failure(now.error());
    if (now.value() == file.state) return success();
    const bool same_size = now.value().size == file.state.size;
    return failure(
        source_changed(name, file.state.size, same_size ? "other content (written or replaced since)" : std::to_string(now.value().size) + " bytes"));
}

Result<void> check_unchanged(const SeenFile& file)
{
    return compare(file, files::state_of(file.place));
}

class OpenSourceFile final : public OpenContent {
public:
    OpenSourceFile(std::shared_ptr<const SeenFile> file, files::File open) : file_{std::move(file)}, open_{std::move(open)} {}

    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        const auto done = files::read_exactly(open_, file_->place, offset, out);
        if (done) return success();
        BOOST_OUTCOME_TRY(compare(*file_, files::state_of(open_, file_->place)));  // cut short since
        return failure(done.error());
    }

    void expect(std::uint64_t offset, std::uint64_t length) override { files::read_ahead(open_, offset, length); }

    Result<void> check() override { return check_unchanged(*file_); }  // by its name: the same inode, unchanged, is what was read

private:
    std::shared_ptr<const SeenFile> file_;
    files::File open_;
};

Content content_of(const std::shared_ptr<const SeenFile>& file)
{
    return {file->state.size, [file]() -> Result<std::shared_ptr<OpenContent>> {
                auto open = files::open_and_look(file->place);
                if (!open && open.error().code == Errc::not_found) return failure(source_changed(file->place.string(), file->state.size, "it gone"));
                if (!open) return failure(open.error());
                BOOST_OUTCOME_TRY(compare(*file, open.value().state));
                return std::shared_ptr<OpenContent>{std::make_shared<OpenSourceFile>(file, std::move(open.value().file))};
            }};
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
        : options_{options}, root_{std::move(root)}, inside_{root_.string() == "/" ? "/" : root_.string() + "/"}
    {
        tree_.name = root_.string();
        tree_.url = objectstore::file_url(root_);
    }

    Result<SourceTree> walk()
    {
        struct stat facts {};
        if (::stat(root_.c_str(), &facts) != 0) return failure(system_error(errno, "cannot read the source", root_.string()));
        BOOST_OUTCOME_TRY(descend("", root_, facts));
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
            complaints_.add(prefix.substr(0, prefix.size() - 1), "is a link to a directory above it");
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
        if (tree_.files.size() > model::max_files) return failure(too_many_files(tree_));
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
            complaints_.add(path, errno == ELOOP ? "is a link that leads to itself" : "is a link that leads nowhere");
            return false;
        }
        if (options_.links == Links::inside && !target.starts_with(inside_) && target + "/" != inside_) {
            complaints_.add(path, "is a link out of the source");
            links_out_ = true;
            return false;
        }
        return true;
    }

    void add(const std::string& path, files::Path place, const struct stat& facts)
    {
        if (!options_.selection.takes(path)) return;
        if (!S_ISREG(facts.st_mode)) {
            complaints_.add(path, kind_of(facts.st_mode));
            return;
        }
        if (!complaints_.takes(path)) return;
        files::FileState state;
        state.size = static_cast<std::uint64_t>(facts.st_size);
        state.mtime_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
        state.inode = facts.st_ino;
        state.device = facts.st_dev;
        const auto seen = std::make_shared<const SeenFile>(SeenFile{std::move(place), state});
        const Content content = content_of(seen);
        tree_.files.push_back({path, state.size, objectstore::version_of(state), options_.gate == nullptr ? content : rationed(content, *options_.gate)});
        seen_->push_back(seen);
    }

    Result<SourceTree> finish()
    {
        tree_.check_unchanged = [seen = seen_](Crew& crew) { return crew.run(seen->size(), [&seen](std::size_t i) { return check_unchanged(*(*seen)[i]); }); };
        return finished(std::move(tree_), complaints_,
            links_out_ ? "--follow-links takes the files that such links point to" : "remove them, or leave them out by --exclude");
    }

    const WalkOptions& options_;
    files::Path root_;    // absolute, no links: a file's path below it leads to its place
    std::string inside_;  // what the real paths of all that is inside begin with
    SourceTree tree_;
    std::vector<std::pair<dev_t, ino_t>> above_;  // the directories on the way down
    std::shared_ptr<SeenFiles> seen_ = std::make_shared<SeenFiles>();
    Complaints complaints_;
    bool links_out_ = false;
};

}  // namespace

Result<SourceTree> walk_directory(const std::string& source, const WalkOptions& options)
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

}  // namespace shoal::seeder
