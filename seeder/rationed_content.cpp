#include "seeder/rationed_content.hpp"

#include "seeder/crew.hpp"

namespace shoal::seeder {
namespace {

class RationedContent final : public OpenContent {
public:
    RationedContent(std::shared_ptr<OpenContent> inner, origin::OriginGate& gate) : inner_{std::move(inner)}, gate_{gate} {}
    Result<void> read(std::uint64_t offset, MutableBytes out) override
    {
        if (!gate_.admit(out.size())) return failure(Crew::given_up());
        return inner_->read(offset, out);
    }
    void expect(std::uint64_t /*offset*/, std::uint64_t /*length*/) override {}  // would read ahead of the ceiling
    Result<void> check() override { return inner_->check(); }

private:
    std::shared_ptr<OpenContent> inner_;
    origin::OriginGate& gate_;
};

}  // namespace

Content rationed(Content content, origin::OriginGate& gate)
{
    return {content.size,
        [open = std::move(content.open), &gate]() -> Result<std::shared_ptr<OpenContent>> {
            BOOST_OUTCOME_TRY(inner, open());
            return std::shared_ptr<OpenContent>{std::make_shared<RationedContent>(std::move(inner), gate)};
        },
        content.far};
}

}  // namespace shoal::seeder
