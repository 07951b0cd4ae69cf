#include "seeder/origin_slices.hpp"

#include <algorithm>

namespace shoal::seeder {
namespace {

constexpr Duration remembered = std::chrono::minutes{10};  // a tracker that says nothing more

}  // namespace

void OriginSlices::heard(const wire::Reply& reply, TimePoint now)
{
    std::erase_if(words_, [&](const auto& word) { return now - word.second.heard >= remembered; });
    Word& word = words_[reply.tracker];
    word.capped = reply.origin_capped;
    word.heard = now;
    if (!word.capped) word.slice = {};
    const bool overtaken = word.holds(now) && reply.origin.number < word.slice.number;  // two replies may arrive in the other order
    if (word.capped && reply.origin.number > 0 && !overtaken) {
        word.slice = reply.origin;
        word.slice_heard = now;
    }
    last_ = least(now).value_or(last_);
}

std::optional<std::uint64_t> OriginSlices::least(TimePoint now) const
{
    std::optional<std::uint64_t> least;
    for (const auto& [tracker, word] : words_)
        if (word.holds(now)) least = std::min(least.value_or(word.slice.rate), word.slice.rate);
    return least;
}

std::optional<std::uint64_t> OriginSlices::rate(TimePoint now) const
{
    if (const auto slice = least(now)) return slice;
    const auto says = [&](bool capped) {
        return std::any_of(words_.begin(), words_.end(),
            [&](const auto& word) { return word.second.capped == capped && (capped || now - word.second.heard < wire::origin_slice_lasts); });
    };
    if (says(false) || !says(true)) return std::nullopt;
    return last_ / 10;
}

std::vector<wire::Confirmed> OriginSlices::confirmed(TimePoint now) const
{
    std::vector<wire::Confirmed> confirmed;
    for (const auto& [tracker, word] : words_)
        if (word.holds(now) && confirmed.size() < wire::max_trackers) confirmed.push_back({tracker, word.slice.number});
    return confirmed;
}

}  // namespace shoal::seeder
