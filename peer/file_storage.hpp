// The bytes of a revision in files: staged ones, which are written, and those in their final place. Any thread.
#pragma once

#include "common/files/file.hpp"
#include "common/model/layout.hpp"
#include "common/swarm/piece_storage.hpp"
#include "peer/page_cache.hpp"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace shoal::peer {

// Where a file's bytes are. A staged file moves to its final place while others read it: whoever finds it gone looks there.
struct FilePlace {
    files::Path path;
    files::Path later;      // empty: it does not move
    bool writable = false;  // bytes for a file that is not are dropped: it holds them already
};

// Asked for each file that is touched, and not written down for a hundred thousand. Any thread.
using Places = std::function<FilePlace(FileIndex file)>;

class FileStorage final : public swarm::PieceStorage {
public:
    // `before_write`: leave to write (the claim is still ours), asked each time; its error is the write's.
    FileStorage(std::shared_ptr<const model::Layout> layout, Places places, std::function<Result<void>()> before_write, std::shared_ptr<PageCacheWindow> cache);

    Result<void> read(PieceIndex piece, std::uint32_t offset, MutableBytes out) override;
    Result<void> write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes) override;

private:
    enum class Mode { read, write };
    // The kernel lets one at a time write into a file; who waits for it there spins (7 % of a fetch's processor time), here it sleeps.
    struct OpenFile {
        files::File file;
        std::mutex writing;
    };
    struct Kept {
        std::shared_ptr<OpenFile> file;
        Mode mode = Mode::read;
        std::list<std::uint32_t>::iterator age;
    };
    using Opened = Result<std::shared_ptr<OpenFile>>;
    Opened open(const std::vector<model::Extent>& extents, const model::Extent& extent, const FilePlace& place, Mode mode);
    Opened open_and_keep(FileIndex file, const FilePlace& place, Mode mode);
    static Opened open_anew(const FilePlace& place, Mode mode);
    void forget(std::uint32_t file);

    static constexpr std::size_t most_open = 128;
    std::shared_ptr<const model::Layout> layout_;
    Places places_;
    std::function<Result<void>()> before_write_;
    std::shared_ptr<PageCacheWindow> cache_;
    std::mutex mutex_;
    std::list<std::uint32_t> ages_;  // newest first
    std::unordered_map<std::uint32_t, Kept> open_;
};

}  // namespace shoal::peer
