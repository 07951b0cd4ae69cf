#include "seeder/stored_content.hpp"

#include "seeder/crew.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

namespace shoal::seeder {
namespace {

constexpr std::size_t most_chunks = 4;
constexpr std::uint64_t chunk_bytes = 8U << 20U;
constexpr std::uint64_t rationed_chunk_bytes = 1U << 20U;  // what is read at once may be above the ceiling for so long

class OpenRange : public OpenContent {
public:
    OpenRange(objectstore::ObjectStore& store, ObjectRange range, origin::OriginGate* gate)
        : store_{store}, range_{std::move(range)}, expected_{range_.version.empty() ? std::nullopt : std::optional{range_.version}}, gate_{gate}
    {}

    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        if (gate_ != nullptr && !gate_->admit(out.size())) return failure(Crew::given_up());
        return store_.get_range(range_.key, range_.offset + offset, out, expected_);
    }
    void expect(std::uint64_t /*offset*/, std::uint64_t /*length*/) override {}
    Result<void> check() override { return success(); }  // each read did

protected:
    [[nodiscard]] std::uint64_t size() const { return range_.size; }
    [[nodiscard]] std::uint64_t chunk_size() const { return gate_ == nullptr ? chunk_bytes : rationed_chunk_bytes; }

private:
    objectstore::ObjectStore& store_;
    ObjectRange range_;
    std::optional<objectstore::Version> expected_;
    origin::OriginGate* gate_;
};

// Holds what is expected next, in chunks that are requested side by side. Bytes behind the one that was read last are let go.
class AheadRange final : public OpenRange {
public:
    using OpenRange::OpenRange;

    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        while (!out.empty()) {
            const std::shared_ptr<Chunk> chunk = chunk_at(offset);
            if (!chunk) return OpenRange::read(offset, out);
            BOOST_OUTCOME_TRY(chunk->arrived.get());
            const auto from = static_cast<std::size_t>(offset - chunk->offset);
            const std::size_t taken = std::min(out.size(), chunk->bytes.size() - from);
            std::memcpy(out.data(), chunk->bytes.data() + from, taken);
            offset += taken;
            out = out.subspan(taken);
        }
        return success();
    }

    void expect(std::uint64_t offset, std::uint64_t length) override
    {
        const std::lock_guard lock{mutex_};
        let_go_before(offset);
        next_ = std::max(next_, offset);
        const std::uint64_t end = std::min(offset + length, size());
        while (next_ < end && chunks_.size() < most_chunks) {
            const std::uint64_t length_of_chunk = std::min(chunk_size(), size() - next_);
            chunks_.push_back(std::make_shared<Chunk>(next_, length_of_chunk));
            next_ += length_of_chunk;
            Chunk& chunk = *chunks_.back();
            chunk.arrived = std::async(std::launch::async, [this, &chunk] { return OpenRange::read(chunk.offset, chunk.bytes); }).share();
        }
    }

private:
    struct Chunk {
        Chunk(std::uint64_t at, std::uint64_t size) : offset{at}, bytes(size) {}
        [[nodiscard]] std::uint64_t end() const { return offset + bytes.size(); }
        std::uint64_t offset;
        std::vector<std::byte> bytes;
        std::shared_future<Result<void>> arrived;  // destroyed before the bytes: it waits for who fills them
    };

    std::shared_ptr<Chunk> chunk_at(std::uint64_t offset)
    {
        const std::lock_guard lock{mutex_};
        let_go_before(offset);
        const bool held = !chunks_.empty() && chunks_.front()->offset <= offset;
        return held ? chunks_.front() : nullptr;
    }
    void let_go_before(std::uint64_t offset)
    {
        while (!chunks_.empty() && chunks_.front()->end() <= offset) chunks_.pop_front();
    }

    std::mutex mutex_;
    std::uint64_t next_ = 0;  // of the chunk to be asked for next
    std::deque<std::shared_ptr<Chunk>> chunks_;
};

}  // namespace

Content content_of(objectstore::ObjectStore& store, ObjectRange range, origin::OriginGate* gate)
{
    const std::uint64_t size = range.size;
    const bool far = objectstore::is_remote(store);
    return {size,
        [&store, range = std::move(range), gate, far]() -> Result<std::shared_ptr<OpenContent>> {
            if (range.version.empty()) {
                BOOST_OUTCOME_TRY(info, store.head(range.key));
                if (range.whole && info.size != range.size)
                    return failure(Errc::integrity, "object has a wrong size: " + store.url() + " key '" + range.key + "': expected " +
                                                        std::to_string(range.size) + " bytes, found " + std::to_string(info.size));
            } else if (range.size == 0) {
                BOOST_OUTCOME_TRY(store.get_range(range.key, range.offset, {}, range.version));
            }
            if (far) return std::shared_ptr<OpenContent>{std::make_shared<AheadRange>(store, range, gate)};
            return std::shared_ptr<OpenContent>{std::make_shared<OpenRange>(store, range, gate)};
        },
        far};
}

}  // namespace shoal::seeder
