#include "seeder/stored_content.hpp"

namespace shoal::seeder {
namespace {

class OpenRange final : public OpenContent {
public:
    OpenRange(objectstore::ObjectStore& store, ObjectRange range, objectstore::Version found)
        : store_{store}, range_{std::move(range)}, found_{std::move(found)}
    {}

    Result<void> read(std::uint64_t offset, MutableBytes out) override { return store_.get_range(range_.key, range_.offset + offset, out); }
    void expect(std::uint64_t, std::uint64_t) override {}

    Result<void> check() override
    {
        if (range_.version.empty() || range_.version == found_) return success();
        return failure(
            Errc::changed, "object has changed: " + store_.url() + " key '" + range_.key + "': expected version " + range_.version + ", found " + found_);
    }

private:
    objectstore::ObjectStore& store_;
    ObjectRange range_;
    objectstore::Version found_;
};

}  // namespace

Content content_of(objectstore::ObjectStore& store, ObjectRange range)
{
    const std::uint64_t size = range.size;
    return {size, [&store, range = std::move(range)]() -> Result<std::shared_ptr<OpenContent>> {
                BOOST_OUTCOME_TRY(info, store.head(range.key));
                if (range.whole && info.size != range.size)
                    return failure(Errc::integrity, "object has a wrong size: " + store.url() + " key '" + range.key + "': expected " +
                                                        std::to_string(range.size) + " bytes, found " + std::to_string(info.size));
                return std::shared_ptr<OpenContent>{std::make_shared<OpenRange>(store, range, info.version)};
            }};
}

}  // namespace shoal::seeder
