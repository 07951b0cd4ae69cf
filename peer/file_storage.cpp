#include "peer/file_storage.hpp"

#include <utility>

namespace shoal::peer {

FileStorage::FileStorage(std::shared_ptr<const model::Layout> layout, std::vector<FilePlace> places, std::function<Result<void>()> before_write,
    std::shared_ptr<PageCacheWindow> cache)
    : layout_{std::move(layout)}, places_{std::move(places)}, before_write_{std::move(before_write)}, cache_{std::move(cache)}
{}

Result<void> FileStorage::read(PieceIndex piece, std::uint32_t offset, MutableBytes out)
{
    for (const model::Extent& extent : layout_->extents(piece, offset, static_cast<std::uint32_t>(out.size()))) {
        BOOST_OUTCOME_TRY(file, open(extent.file, Mode::read));
        const auto length = static_cast<std::size_t>(extent.length);
        BOOST_OUTCOME_TRY(files::read_exactly(*file, places_[extent.file.value].path, extent.offset, out.first(length)));
        cache_->touched(file, extent.offset, extent.length, false);
        out = out.subspan(length);
    }
    return success();
}

Result<void> FileStorage::write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes)
{
    for (const model::Extent& extent : layout_->extents(piece, offset, static_cast<std::uint32_t>(bytes.size()))) {
        const auto length = static_cast<std::size_t>(extent.length);
        if (places_[extent.file.value].writable) {
            BOOST_OUTCOME_TRY(before_write_());
            BOOST_OUTCOME_TRY(file, open(extent.file, Mode::write));
            BOOST_OUTCOME_TRY(files::write_all(*file, places_[extent.file.value].path, extent.offset, bytes.first(length)));
            cache_->touched(file, extent.offset, extent.length, true);
        }
        bytes = bytes.subspan(length);
    }
    return success();
}

Result<std::shared_ptr<const files::File>> FileStorage::open(FileIndex file, Mode mode)
{
    const std::lock_guard lock{mutex_};
    if (const auto found = open_.find(file.value); found != open_.end()) {
        if (mode == Mode::read || found->second.mode == Mode::write) {
            ages_.splice(ages_.begin(), ages_, found->second.age);
            return found->second.file;
        }
        forget(file.value);  // it was opened for reading only
    }
    BOOST_OUTCOME_TRY(opened, open_anew(places_[file.value], mode));
    auto shared = std::make_shared<const files::File>(std::move(opened));
    if (open_.size() >= most_open) forget(ages_.back());
    ages_.push_front(file.value);
    open_.emplace(file.value, Open{shared, mode, ages_.begin()});
    return shared;
}

void FileStorage::forget(std::uint32_t file)
{
    const auto found = open_.find(file);
    ages_.erase(found->second.age);
    open_.erase(found);
}

Result<files::File> FileStorage::open_anew(const FilePlace& place, Mode mode)
{
    if (mode == Mode::write) return files::open_write(place.path, files::Create::if_missing);
    auto file = files::open_read(place.path);
    if (!file && file.error().code == Errc::not_found && !place.later.empty()) return files::open_read(place.later);
    return file;
}

}  // namespace shoal::peer
