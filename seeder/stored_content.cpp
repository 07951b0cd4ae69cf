#include "seeder/stored_content.hpp"

namespace shoal::seeder {
namespace {

class OpenRange final : public OpenContent {
public:
    OpenRange(objectstore::ObjectStore& store, ObjectRange range)
        : store_{store}, range_{std::move(range)}, expected_{range_.version.empty() ? std::nullopt : std::optional{range_.version}}
    {}

    Result<void> read(std::uint64_t offset, MutableBytes out) override { return store_.get_range(range_.key, range_.offset + offset, out, expected_); }
    void expect(std::uint64_t /*offset*/, std::uint64_t /*length*/) override {}
    Result<void> check() override { return success(); }  // each read did

private:
    objectstore::ObjectStore& store_;
    ObjectRange range_;
    std::optional<objectstore::Version> expected_;
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
                return std::shared_ptr<OpenContent>{std::make_shared<OpenRange>(store, range)};
            }};
}

}  // namespace shoal::seeder
