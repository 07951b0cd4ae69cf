#include "seeder/store_watch.hpp"

#include "common/obs/log.hpp"

#include <utility>

namespace shoal::seeder {
namespace {

constexpr Duration between_answers = std::chrono::seconds{5};
constexpr Duration after_failure = std::chrono::seconds{2};
constexpr Duration silence = std::chrono::seconds{30};

}  // namespace

StoreWatch::StoreWatch(net::Loop& loop, net::Workers& workers, std::shared_ptr<objectstore::ObjectStore> store)
    : loop_{loop}, workers_{workers}, store_{std::move(store)}
{}

void StoreWatch::start(std::function<void()> first_answer)
{
    first_answer_ = std::move(first_answer);
    ask();
}

std::string StoreWatch::trouble(TimePoint now) const
{
    if (!complaint_.empty()) return complaint_;
    return answered_at_ && now - *answered_at_ < silence ? "" : "store does not answer: " + store_->url();
}

// Models are few: a page of them is the cheapest question that only the store's root can answer.
void StoreWatch::ask()
{
    const auto page = std::make_shared<std::optional<Result<objectstore::Page>>>();
    const bool queued = workers_.run([store = store_, page] { page->emplace(store->list("models/", "", 1)); }, [this, page] { heard(**page); });
    if (!queued) again_ = loop_.after(after_failure, [this] { ask(); });
}

void StoreWatch::heard(const Result<objectstore::Page>& page)
{
    again_ = loop_.after(page ? between_answers : after_failure, [this] { ask(); });
    if (!page) {
        if (std::exchange(complaint_, page.error().text()).empty())
            obs::log(obs::Level::warning, "the store does not answer", {{"cause", page.error().text()}});
        return;
    }
    if (!std::exchange(complaint_, "").empty()) obs::log(obs::Level::info, "the store answers", {{"store", store_->url()}});
    answered_at_ = Clock::now();
    if (const auto first = std::exchange(first_answer_, nullptr)) first();
}

}  // namespace shoal::seeder
