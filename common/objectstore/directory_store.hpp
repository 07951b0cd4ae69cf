// An object store that is a directory, also on NFS: a key's parts are the path's. Any thread; several processes and machines at once.
//
// Writes go to a hidden file in the same directory, are synced, and get their name by link(2), which is atomic and refuses a taken name; where links do not
// exist by renameat2(RENAME_NOREPLACE); where that does not either, under the directory's lock. A record is replaced by rename under that lock, each time with
// a later modification time than before, so that a version (time, size, inode) never comes back.
// What dead writers left is hidden, and goes when somebody writes to the same directory an hour later.
#pragma once

#include "common/files/file.hpp"
#include "common/objectstore/directory_draft.hpp"
#include "common/objectstore/object_store.hpp"

namespace shoal::objectstore {

class DirectoryStore final : public ObjectStore {
public:
    DirectoryStore(std::string url, files::Path root, Naming naming = Naming::by_link);

    [[nodiscard]] const std::string& url() const override { return url_; }
    Result<ObjectInfo> head(const std::string& key) override;
    Result<Object> get(const std::string& key, std::size_t limit) override;
    Result<void> get_range(const std::string& key, std::uint64_t offset, MutableBytes out, const std::optional<Version>& expected = {}) override;
    Result<Version> put(const std::string& key, std::string_view content, const Condition& condition) override;
    Result<std::unique_ptr<Upload>> upload(const std::string& key, std::uint64_t size) override;
    Result<Page> list(const std::string& prefix, const std::string& after, std::size_t limit) override;
    Result<void> remove(const std::string& key) override;

private:
    [[nodiscard]] Result<files::LookedAt> open(const std::string& key, const files::Path& path) const;
    Result<Version> replace(const std::string& key, const files::Path& path, std::string_view content, const Condition& condition);

    std::string url_;
    files::Path root_;
    Naming naming_;
};

}  // namespace shoal::objectstore
