#include "common/control/told.hpp"

#include <algorithm>
#include <utility>

namespace shoal::control {
namespace {

constexpr std::size_t longest_trouble = 1024;

std::map<RevisionId, wire::Holding> by_revision(std::vector<wire::Holding> holdings)
{
    std::map<RevisionId, wire::Holding> sorted;
    for (wire::Holding& holding : holdings) {
        if (holding.trouble.size() > longest_trouble) holding.trouble.resize(longest_trouble);
        const RevisionId revision = holding.revision;
        sorted.insert_or_assign(revision, std::move(holding));
    }
    return sorted;
}

}  // namespace

wire::Beat Told::next(wire::Beat whole)
{
    Sent sent;
    sent.sequence = ++sequence_;
    whole.sequence = sequence_;
    count_received(whole, sent);
    whole.full = is_full_due(whole.holdings.size());
    sent.full = whole.full;
    whole.dropped.clear();
    if (whole.full)
        make_full(whole, sent);
    else
        make_delta(whole, sent);
    unanswered_.push_back(std::move(sent));
    return whole;
}

bool Told::is_full_due(std::size_t holdings) const
{
    // What an unanswered full report left out is not among its names: after it only another one is certain.
    const bool uncertain = std::any_of(unanswered_.begin(), unanswered_.end(), [](const Sent& one) { return one.full; });
    return !base_ || uncertain || (sequence_ >= last_full_ + full_every && holdings <= most_holdings);
}

void Told::make_full(wire::Beat& beat, Sent& sent) const
{
    for (auto& [revision, holding] : by_revision(std::exchange(beat.holdings, {}))) {
        if (beat.holdings.size() == most_holdings) break;
        beat.holdings.push_back(holding);
        sent.named.insert(revision);
        sent.told.emplace(revision, std::move(holding));
    }
}

// What differs from the base, and what an unanswered beat has named: the tracker may or may not have taken that one.
void Told::make_delta(wire::Beat& beat, Sent& sent) const
{
    const Holdings now = by_revision(std::exchange(beat.holdings, {}));
    std::set<RevisionId> uncertain;
    for (const Sent& one : unanswered_) uncertain.insert(one.named.begin(), one.named.end());
    sent.told = base_->told;
    for (const auto& [revision, holding] : now) {
        const auto told = base_->told.find(revision);
        if (told != base_->told.end() && told->second == holding && !uncertain.contains(revision)) continue;
        if (beat.holdings.size() == most_holdings) break;
        beat.holdings.push_back(holding);
        sent.named.insert(revision);
        sent.told.insert_or_assign(revision, holding);
    }
    for (const auto& [revision, holding] : base_->told) uncertain.insert(revision);
    for (const RevisionId& revision : uncertain) {
        if (now.contains(revision)) continue;
        if (beat.dropped.size() == most_holdings) break;
        beat.dropped.push_back(revision);
        sent.named.insert(revision);
        sent.told.erase(revision);
    }
}

void Told::count_received(wire::Beat& beat, Sent& sent) const
{
    for (const wire::Received& one : std::exchange(beat.received, {})) sent.received[one.from] += one.bytes;
    for (const auto& [from, total] : sent.received) {
        const auto before = counted_.find(from);
        const bool known = before != counted_.end() && before->second <= total;  // totals may start anew
        const std::uint64_t bytes = total - (known ? before->second : 0);
        if (bytes > 0 && beat.received.size() < most_holdings) beat.received.push_back({from, bytes});
    }
}

bool Told::answered(std::uint64_t sequence, bool need_full)
{
    const auto sent = std::find_if(unanswered_.begin(), unanswered_.end(), [sequence](const Sent& one) { return one.sequence == sequence; });
    if (sent == unanswered_.end()) return false;
    if (need_full) {
        forget();
        return true;
    }
    if (!base_ || sequence >= last_full_ + full_every) last_full_ = sequence;
    counted_ = std::move(sent->received);
    base_ = std::move(*sent);
    unanswered_.erase(unanswered_.begin(), std::next(sent));
    return true;
}

void Told::failed(std::uint64_t sequence)
{
    const bool known = std::any_of(unanswered_.begin(), unanswered_.end(), [sequence](const Sent& one) { return one.sequence == sequence; });
    if (known) forget();
}

void Told::follow(std::uint64_t sequence)
{
    sequence_ = std::max(sequence_, sequence);
    forget();
}

void Told::forget()
{
    base_.reset();
    unanswered_.clear();
}

}  // namespace shoal::control
