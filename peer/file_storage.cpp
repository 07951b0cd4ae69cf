#include "peer/file_storage.hpp"

#include <utility>

namespace shoal::peer {

FileStorage::FileStorage(
    std::shared_ptr<const model::Layout> layout, Places places, std::function<Result<void>()> before_write, std::shared_ptr<PageCacheWindow> cache)
    : layout_{std::move(layout)}, places_{std::move(places)}, before_write_{std::move(before_write)}, cache_{std::move(cache)}
{}

Result<void> FileStorage::read(PieceIndex piece, std::uint32_t offset, MutableBytes out)
{
    const std::vector<model::Extent> extents = layout_->extents(piece, offset, static_cast<std::uint32_t>(out.size()));
    for (const model::Extent& extent : extents) {
        const FilePlace place = places_(extent.file);
        BOOST_OUTCOME_TRY(file, open(extents, extent, place, Mode::read));
        const auto length = static_cast<std::size_t>(extent.length);
        BOOST_OUTCOME_TRY(files::read_exactly(file->file, place.path, extent.offset, out.first(length)));
        (void)cache_->touched({{file, &file->file}, place.path, extent.offset, extent.length, false});  // a read is none the worse for a lost write
        out = out.subspan(length);
    }
    return success();
}

Result<void> FileStorage::write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes)
{
    const std::vector<model::Extent> extents = layout_->extents(piece, offset, static_cast<std::uint32_t>(bytes.size()));
    for (const model::Extent& extent : extents) {
        const auto length = static_cast<std::size_t>(extent.length);
        const FilePlace place = places_(extent.file);
        if (place.writable) {
            BOOST_OUTCOME_TRY(before_write_());
            BOOST_OUTCOME_TRY(file, open(extents, extent, place, Mode::write));
            {
                const std::lock_guard turn{file->writing};
                BOOST_OUTCOME_TRY(files::write_all(file->file, place.path, extent.offset, bytes.first(length)));
            }
            BOOST_OUTCOME_TRY(cache_->touched({{file, &file->file}, place.path, extent.offset, extent.length, true}));
        }
        bytes = bytes.subspan(length);
    }
    return success();
}

// A small file that lies whole among others is touched once: kept open it would only push out those that are not, and threads would wait for each other.
FileStorage::Opened FileStorage::open(const std::vector<model::Extent>& extents, const model::Extent& extent, const FilePlace& place, Mode mode)
{
    const bool whole = extent.offset == 0 && extent.file != extents.back().file;
    return whole ? open_anew(place, mode) : open_and_keep(extent.file, place, mode);
}

FileStorage::Opened FileStorage::open_and_keep(FileIndex file, const FilePlace& place, Mode mode)
{
    const std::lock_guard lock{mutex_};
    if (const auto found = open_.find(file.value); found != open_.end()) {
        if (mode == Mode::read || found->second.mode == Mode::write) {
            ages_.splice(ages_.begin(), ages_, found->second.age);
            return found->second.file;
        }
        forget(file.value);  // it was opened for reading only
    }
    BOOST_OUTCOME_TRY(opened, open_anew(place, mode));
    if (open_.size() >= most_open) forget(ages_.back());
    ages_.push_front(file.value);
    open_.emplace(file.value, Kept{opened, mode, ages_.begin()});
    return std::move(opened);
}

void FileStorage::forget(std::uint32_t file)
{
    const auto found = open_.find(file);
    ages_.erase(found->second.age);
    open_.erase(found);
}

FileStorage::Opened FileStorage::open_anew(const FilePlace& place, Mode mode)
{
    auto file = mode == Mode::write ? files::open_write(place.path, files::Create::if_missing) : files::open_read(place.path);
    if (!file && mode == Mode::read && file.error().code == Errc::not_found && !place.later.empty()) file = files::open_read(place.later);
    if (!file) return failure(file.error());
    auto opened = std::make_shared<OpenFile>();
    opened->file = std::move(file).value();
    return opened;
}

}  // namespace shoal::peer
