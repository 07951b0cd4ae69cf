#include "common/objectstore/directory_walk.hpp"

#include "common/model/names.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>

namespace shoal::objectstore {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

bool is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR;  // somebody removed it since we saw its name
}

enum class Kind { file, directory, other };

Kind kind_of(const files::Path& path, unsigned char type)
{
    if (type == DT_REG) return Kind::file;
    if (type == DT_DIR) return Kind::directory;
    struct stat facts {};
    if ((type != DT_LNK && type != DT_UNKNOWN) || ::stat(path.c_str(), &facts) != 0) return Kind::other;
    return S_ISREG(facts.st_mode) ? Kind::file : S_ISDIR(facts.st_mode) ? Kind::directory : Kind::other;
}

// One walk for one page.
class Walk {
public:
    Walk(const files::Path& root, const std::string& prefix, const std::string& after, std::size_t wanted)
        : root_{root}, prefix_{prefix}, after_{after}, wanted_{wanted}
    {}

    // `key` is the directory's: empty, or with a "/" at its end.
    Result<void> descend(const std::string& key)
    {
        BOOST_OUTCOME_TRY(names, children(key));
        for (const std::string& name : names) {
            if (found_.size() >= wanted_) break;
            const std::string child = key + name;
            if (name.back() == '/') {
                BOOST_OUTCOME_TRY(descend(child));
            } else {
                BOOST_OUTCOME_TRY(add(child));
            }
        }
        return success();
    }

    std::vector<ObjectInfo> take() { return std::move(found_); }

private:
    // Names that may lead to a key of the page, by bytes; directories end in "/", which is what puts "a.b" before "a/b".
    Result<std::vector<std::string>> children(const std::string& key)
    {
        const files::Path path = root_ / key;
        std::vector<std::string> names;
        const Directory directory{::opendir(path.c_str())};
        if (!directory) {
            if (is_gone(errno)) return names;
            return failure(system_error(errno, "cannot list directory", path.string()));
        }
        for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0) {
            std::string name = entry->d_name;
            if (name == "." || name == ".." || reserved(name)) continue;
            const Kind kind = kind_of(path / name, entry->d_type);
            if (kind == Kind::directory) name += '/';
            if (kind != Kind::other && may_lead(key + name)) names.push_back(std::move(name));
        }
        if (errno != 0) return failure(system_error(errno, "cannot list directory", path.string()));
        std::sort(names.begin(), names.end());
        return names;
    }

    [[nodiscard]] bool may_lead(const std::string& key) const
    {
        const bool directory = key.back() == '/';
        if (!key.starts_with(prefix_) && !(directory && prefix_.starts_with(key))) return false;
        return key > after_ || (directory && after_.starts_with(key));
    }

    Result<void> add(const std::string& key)
    {
        const auto state = files::state_of(root_ / key);
        if (state)
            found_.push_back({key, state.value().size, version_of(state.value())});
        else if (state.error().code != Errc::not_found)
            return failure(state.error());
        return success();
    }

    const files::Path& root_;
    const std::string& prefix_;
    const std::string& after_;
    std::size_t wanted_;
    std::vector<ObjectInfo> found_;
};

Result<void> check_part(std::string_view part, const std::string& key)
{
    if (part.empty() || part == "." || part == ".." || part.size() > 255)
        return failure(Errc::invalid, "a directory store cannot hold the key: '" + model::printable(key) + "': it has an empty, '.', '..' or too long part");
    if (reserved(part)) return failure(Errc::invalid, "a directory store cannot hold the key: '" + model::printable(key) + "': the name is reserved");
    return success();
}

}  // namespace

bool reserved(std::string_view name)
{
    return name.starts_with(temporary_prefix) || name == lock_name;
}

Version version_of(const files::FileState& state)
{
    return std::to_string(state.mtime_ns) + "-" + std::to_string(state.size) + "-" + std::to_string(state.inode);
}

Result<files::Path> path_of_key(const files::Path& root, const std::string& key)
{
    if (key.find('\0') != std::string::npos)
        return failure(Errc::invalid, "a directory store cannot hold the key: '" + model::printable(key) + "': it has a NUL");
    for (std::size_t begin = 0; begin <= key.size();) {
        const std::size_t end = std::min(key.find('/', begin), key.size());
        BOOST_OUTCOME_TRY(check_part(std::string_view{key}.substr(begin, end - begin), key));
        begin = end + 1;
    }
    return root / key;
}

Result<Page> list_directory(const files::Path& root, const std::string& prefix, const std::string& after, std::size_t limit)
{
    const std::size_t slash = prefix.rfind('/');
    const std::string base = slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
    if (!base.empty()) {
        BOOST_OUTCOME_TRY(path_of_key(root, base.substr(0, slash)));
    }
    Walk walk{root, prefix, after, limit + 1};
    BOOST_OUTCOME_TRY(walk.descend(base));
    Page page{walk.take(), {}};
    if (page.objects.size() > limit) {
        page.objects.resize(limit);
        page.next = page.objects.back().key;
    }
    return page;
}

}  // namespace shoal::objectstore
