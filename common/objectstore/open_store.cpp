#include "common/objectstore/directory_store.hpp"
#include "common/objectstore/object_store.hpp"

#include "common/model/names.hpp"
#include "common/objectstore/s3_request.hpp"
#include "common/objectstore/s3_store.hpp"

#include <cerrno>
#include <dirent.h>

namespace shoal::objectstore {
namespace {

constexpr std::string_view scheme = "file://";
constexpr std::string_view s3_scheme = "s3://";

Error not_understood(const std::string& url)
{
    const bool has_authority = url.find("://") != std::string::npos && !url.starts_with(scheme);
    return {Errc::invalid, "not the URL of a store: '" + (has_authority ? shown_url(url) : model::printable(url)) + "'",
        "give file:///directory with an absolute path, or s3://bucket[/prefix]"};
}

Result<void> check_directory(const std::string& path, const std::string& url)
{
    DIR* directory = ::opendir(path.c_str());
    if (directory != nullptr) {
        ::closedir(directory);
        return success();
    }
    if (errno == ENOENT)
        return failure(Errc::not_found, "store not found: " + url + ": there is no such directory", "make the directory or correct the store's URL");
    if (errno == ENOTDIR) return failure(Errc::not_found, "store not found: " + url + ": it is not a directory", "correct the store's URL");
    return failure(system_error(errno, "cannot open the store", url));
}

}  // namespace

std::string file_url(const std::string& directory)
{
    std::string url{scheme};
    for (const char c : directory) url += c == '%' ? "%25" : std::string(1, c);
    return url;
}

std::optional<std::string> directory_of(const std::string& url)
{
    if (!url.starts_with(scheme)) return std::nullopt;
    std::string_view rest = std::string_view{url}.substr(scheme.size());
    if (rest.starts_with("localhost/")) rest.remove_prefix(9);
    if (!rest.starts_with('/')) return std::nullopt;
    while (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
    std::string path = percent_decoded(rest);  // RFC 8089: "%20" is a space
    if (path.find('\0') != std::string::npos) return std::nullopt;
    return path;
}

bool is_remote(const ObjectStore& store)
{
    return !directory_of(store.url());
}

Result<void> check_url(const std::string& url)
{
    if (url.starts_with(s3_scheme)) {
        BOOST_OUTCOME_TRY(parse_s3_url(url));
        return success();
    }
    return directory_of(url) ? Result<void>{success()} : failure(not_understood(url));
}

Result<std::unique_ptr<ObjectStore>> open_store(const std::string& url, const std::function<bool()>& keep_going)
{
    if (url.starts_with(s3_scheme)) {
        BOOST_OUTCOME_TRY(location, parse_s3_url(url));
        return S3Store::open(location, process_environment, {}, S3Clock::real(keep_going));
    }
    const auto path = directory_of(url);
    if (!path) return failure(not_understood(url));
    const std::string canonical = file_url(*path);
    BOOST_OUTCOME_TRY(check_directory(*path, canonical));
    return std::unique_ptr<ObjectStore>{std::make_unique<DirectoryStore>(canonical, *path)};
}

}  // namespace shoal::objectstore
