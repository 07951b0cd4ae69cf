#include "common/objectstore/directory_store.hpp"

#include "common/model/names.hpp"
#include "common/objectstore/directory_lock.hpp"
#include "common/objectstore/directory_walk.hpp"

#include <cerrno>
#include <unistd.h>

namespace shoal::objectstore {
namespace {

std::string name_of(const std::string& url, const std::string& key)
{
    return url + " key '" + model::printable(key) + "'";
}

// A store whose directory is away (unmounted, removed) lacks nothing: nothing is known of what it holds.
Result<void> check_root(const std::string& url, const files::Path& root)
{
    std::error_code cause;
    if (std::filesystem::is_directory(root, cause)) return success();
    Error gone{Errc::io, "store is gone: " + url + ": there is no such directory", {}};
    if (cause && cause != std::errc::no_such_file_or_directory && cause != std::errc::not_a_directory)
        gone = system_error(cause.value(), "cannot reach the store", url);
    gone.hint = "mount or restore its directory";
    return failure(std::move(gone));
}

Error missing(const std::string& url, const files::Path& root, const std::string& key)
{
    if (auto there = check_root(url, root); !there) return there.error();
    return {Errc::not_found, "object not found: " + name_of(url, key), {}};
}

// Says which object it was; the cause already has the path.
Error about(Error error, const std::string& url, const files::Path& root, const std::string& key)
{
    if (error.code == Errc::not_found) return missing(url, root, key);
    if (error.code == Errc::exists) return {Errc::exists, "object exists: " + name_of(url, key), {}};
    error.message = "store " + name_of(url, key) + ": " + error.message;
    return error;
}

Error cut(const std::string& url, const std::string& key, std::uint64_t expected, std::uint64_t found)
{
    return {Errc::integrity,
        "object is cut short: " + name_of(url, key) + ": expected at least " + std::to_string(expected) + " bytes, found " + std::to_string(found), {}};
}

Error other_version(const std::string& url, const std::string& key, const Version& expected, const Version& found)
{
    return {Errc::changed, "object has changed: " + name_of(url, key) + ": expected version " + expected + ", found " + (found.empty() ? "none" : found), {}};
}

class DirectoryUpload final : public Upload {
public:
    DirectoryUpload(std::string url, files::Path root, std::string key, std::uint64_t size, Draft draft, Naming naming)
        : url_{std::move(url)}, root_{std::move(root)}, key_{std::move(key)}, size_{size}, draft_{std::move(draft)}, naming_{naming}
    {}

    Result<void> write(ConstBytes bytes) override
    {
        const auto appended = draft_.append(bytes);
        if (!appended) return failure(about(appended.error(), url_, root_, key_));
        return success();
    }

    Result<void> commit() override
    {
        if (draft_.written() != size_) return failure(cut(url_, key_, size_, draft_.written()));
        const auto finished = draft_.finish();
        if (!finished) return failure(about(finished.error(), url_, root_, key_));
        const auto named = draft_.name_if_absent(naming_);
        if (!named && named.error().code != Errc::exists) return failure(about(named.error(), url_, root_, key_));
        return success();
    }

private:
    std::string url_;
    files::Path root_;
    std::string key_;
    std::uint64_t size_;
    Draft draft_;
    Naming naming_;
};

Result<Version> create(const files::Path& path, std::string_view content, Naming naming)
{
    if (files::state_of(path)) return failure(Errc::exists, {});
    BOOST_OUTCOME_TRY(draft, Draft::create(path, 0));
    BOOST_OUTCOME_TRY(draft.append(as_bytes(content)));
    BOOST_OUTCOME_TRY(state, draft.finish());
    BOOST_OUTCOME_TRY(draft.name_if_absent(naming));
    return version_of(state);
}

// Nothing there: a state of zeros.
Result<files::FileState> state_or_none(const files::Path& path)
{
    auto state = files::state_of(path);
    if (!state && state.error().code == Errc::not_found) return files::FileState{};
    return state;
}

}  // namespace

DirectoryStore::DirectoryStore(std::string url, files::Path root, Naming naming) : url_{std::move(url)}, root_{std::move(root)}, naming_{naming} {}

Result<files::LookedAt> DirectoryStore::open(const std::string& key, const files::Path& path) const
{
    auto opened = files::open_and_look(path);
    if (!opened) return failure(opened.error().code == Errc::invalid ? missing(url_, root_, key) : about(opened.error(), url_, root_, key));
    return opened;
}

Result<ObjectInfo> DirectoryStore::head(const std::string& key)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    BOOST_OUTCOME_TRY(opened, open(key, path));
    return ObjectInfo{key, opened.state.size, version_of(opened.state)};
}

Result<Object> DirectoryStore::get(const std::string& key, std::size_t limit)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    BOOST_OUTCOME_TRY(opened, open(key, path));
    const std::uint64_t size = opened.state.size;
    if (size > limit)
        return failure(Errc::too_large,
            "object is too large: " + name_of(url_, key) + ": expected at most " + std::to_string(limit) + " bytes, found " + std::to_string(size));
    Object object{std::string(size, '\0'), version_of(opened.state)};
    const auto read = files::read_exactly(opened.file, path, 0, std::as_writable_bytes(std::span{object.content}));
    if (!read) return failure(about(read.error(), url_, root_, key));
    return object;
}

Result<void> DirectoryStore::get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<Version>& expected)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    BOOST_OUTCOME_TRY(opened, open(key, path));
    // Looked at before and after: a file that is rewritten while we read is another one, and one that is cut is neither EIO nor SIGBUS.
    const auto check = [&](const files::FileState& state) -> Result<void> {
        if (expected && version_of(state) != *expected) return failure(other_version(url_, key, *expected, version_of(state)));
        if (state.size < offset || state.size - offset < out.size()) return failure(cut(url_, key, offset + out.size(), state.size));
        return success();
    };
    BOOST_OUTCOME_TRY(check(opened.state));
    const auto read = files::read_exactly(opened.file, path, offset, out);
    const auto after = files::state_of(opened.file, path);
    if (!after) return failure(about(after.error(), url_, root_, key));
    BOOST_OUTCOME_TRY(check(after.value()));
    if (!read) return failure(about(read.error(), url_, root_, key));
    return success();
}

Result<Version> DirectoryStore::put(const std::string& key, std::string_view content, const Condition& condition)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    BOOST_OUTCOME_TRY(check_root(url_, root_));  // never made anew, as what lies above a mount point
    auto written = condition.kind == Condition::Kind::absent ? create(path, content, naming_) : replace(key, path, content, condition);
    if (!written) return failure(written.error().code == Errc::changed ? written.error() : about(written.error(), url_, root_, key));
    return written;
}

Result<Version> DirectoryStore::replace(const std::string& key, const files::Path& path, std::string_view content, const Condition& condition)
{
    BOOST_OUTCOME_TRY(draft, Draft::create(path, 0));  // makes the directory too
    BOOST_OUTCOME_TRY(draft.append(as_bytes(content)));
    Version version;
    const auto prepare = [&]() -> Result<void> {
        BOOST_OUTCOME_TRY(before, state_or_none(path));
        const Version found = before == files::FileState{} ? "" : version_of(before);
        if (condition.kind == Condition::Kind::version && found != condition.version) return failure(other_version(url_, key, condition.version, found));
        BOOST_OUTCOME_TRY(state, draft.finish(before.mtime_ns));
        version = version_of(state);
        return success();
    };
    BOOST_OUTCOME_TRY(under_lock(path.parent_path(), prepare, [&draft = draft] { return draft.replace(); }));
    return version;
}

Result<std::unique_ptr<Upload>> DirectoryStore::upload(const std::string& key, std::uint64_t size)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    BOOST_OUTCOME_TRY(check_root(url_, root_));
    auto draft = Draft::create(path, size);
    if (!draft) return failure(about(draft.error(), url_, root_, key));
    return std::unique_ptr<Upload>{std::make_unique<DirectoryUpload>(url_, root_, key, size, std::move(draft).value(), naming_)};
}

Result<Page> DirectoryStore::list(const std::string& prefix, const std::string& after, std::size_t limit)
{
    if (limit < 1 || limit > 1000) return failure(Errc::invalid, "cannot list: " + url_ + ": a page has 1 to 1000 objects, not " + std::to_string(limit));
    BOOST_OUTCOME_TRY(page, list_directory(root_, prefix, after, limit));
    if (page.objects.empty()) {
        BOOST_OUTCOME_TRY(check_root(url_, root_));
    }
    return std::move(page);
}

Result<void> DirectoryStore::remove(const std::string& key)
{
    BOOST_OUTCOME_TRY(path, path_of_key(root_, key));
    if (::unlink(path.c_str()) == 0) {
        const auto synced = files::sync_directory(path.parent_path());
        if (!synced) return failure(about(synced.error(), url_, root_, key));
        return success();
    }
    if (errno == ENOENT || errno == ENOTDIR || errno == EISDIR) return check_root(url_, root_);
    return failure(about(system_error(errno, "cannot remove", path.string()), url_, root_, key));
}

}  // namespace shoal::objectstore
