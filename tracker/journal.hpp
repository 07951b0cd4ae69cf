// The last things that happened, for people: who came and went, what arrived where, what was withdrawn. Bounded: the oldest goes first. Not thread-safe.
#pragma once

#include "common/core/clock.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace shoal::tracker {

struct Happening {
    std::uint64_t number = 0;  // ascending, from 1; of this tracker process alone
    TimePoint at{};
    std::string what;  // "joined", "left", "silent", "fetched", "withdrawn"
    PeerId peer;
    std::string node;
    std::string model;  // where it is about one
    RevisionId revision;
    std::string trouble;
};

class Journal {
public:
    static constexpr std::size_t most = 1000;

    void add(Happening happening)
    {
        happening.number = ++last_;
        happenings_.push_back(std::move(happening));
        if (happenings_.size() > most) happenings_.pop_front();
    }
    [[nodiscard]] const std::deque<Happening>& happenings() const { return happenings_; }

private:
    std::uint64_t last_ = 0;
    std::deque<Happening> happenings_;
};

}  // namespace shoal::tracker
