// One GET that any tracker may answer: addresses in turn, a silent one overtaken by the next, again and again until the deadline. On the loop.
#pragma once

#include "common/control/directory.hpp"
#include "common/control/question.hpp"
#include "common/core/clock.hpp"
#include "common/core/random.hpp"
#include "common/core/result.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::control {

class Asking {
public:
    using Done = std::function<void(Result<std::string>)>;

    // `places` gives the addresses to try, best first, when a round begins. `done` is the last thing that this does, and may destroy it.
    Asking(net::Loop& loop, net::HttpClient& http, const Directory& directory, std::function<std::vector<Place>()> places, Question question, Done done);

private:
    void round();
    void next();
    void ask(const Place& place);
    void heard(const Place& place, const Result<net::ClientResponse>& response);
    void give_up();
    void finish(Result<std::string> result);
    [[nodiscard]] std::string causes() const;

    net::Loop& loop_;
    net::HttpClient& http_;
    const Directory& directory_;
    std::function<std::vector<Place>()> places_;
    Question question_;
    TimePoint deadline_;
    Done done_;
    std::optional<Error> refused_;  // the last body in this round that was no answer, and would be none again
    Random random_{random_seed()};
    unsigned rounds_ = 0;
    std::deque<Place> untried_;            // in this round
    std::map<Place, net::Handle> asked_;   // that have not answered
    std::map<Place, std::string> causes_;  // of those that have, last
    net::Handle wait_;                     // for the next place or round
    net::Handle end_;
};

}  // namespace shoal::control
