#include "common/control/asking.hpp"

#include "common/control/problem.hpp"
#include "common/control/retry.hpp"

#include <algorithm>
#include <utility>

namespace shoal::control {
namespace {

using namespace std::chrono_literals;

constexpr Duration slice = 1s;          // a silent address may have this long before the next is asked as well
constexpr Duration look_again = 100ms;  // while no name has been resolved
constexpr Duration longest_pause = 2s;  // between rounds
constexpr Duration connect_within = 5s;
constexpr Duration answer_within = 30s;
constexpr std::size_t most_asked = 3;  // at once
constexpr std::size_t most_told = 8;   // addresses in an error

constexpr int wrong_bytes = 502;  // the tracker's word for what the store holds damaged

bool is_problem(const net::ClientResponse& response)
{
    const auto type = response.headers.find("content-type");
    return type != response.headers.end() && type->second.starts_with("application/problem+json");
}

std::string told_by(const net::ClientResponse& response)
{
    const std::string status = "HTTP status " + std::to_string(response.status);
    const auto detail = is_problem(response) ? problem_detail(response.body) : std::nullopt;
    return detail ? status + ", " + *detail : status;
}

}  // namespace

Asking::Asking(net::Loop& loop, net::HttpClient& http, const Directory& directory, std::function<std::vector<Place>()> places, Question question, Done done)
    : loop_{loop},
      http_{http},
      directory_{directory},
      places_{std::move(places)},
      question_{std::move(question)},
      deadline_{Clock::now() + question_.within},
      done_{std::move(done)}
{
    end_ = loop_.after(question_.within, [this] { give_up(); });
    wait_ = loop_.after({}, [this] { round(); });
}

void Asking::round()
{
    const auto places = places_();
    untried_.assign(places.begin(), places.end());
    if (!untried_.empty()) return next();
    wait_ = loop_.after(look_again, [this] { round(); });
}

// The next address, if one is left and not too many are being asked; else, when all have answered, the next round.
void Asking::next()
{
    wait_.reset();
    while (!untried_.empty() && asked_.contains(untried_.front())) untried_.pop_front();
    if (!untried_.empty() && asked_.size() < most_asked) {
        const Place place = untried_.front();
        untried_.pop_front();
        wait_ = loop_.after(slice, [this] { next(); });
        return ask(place);
    }
    if (!untried_.empty() || !asked_.empty()) return;
    if (refused_) return finish(failure(*refused_));
    wait_ = loop_.after(retry_delay(++rounds_, longest_pause, random_), [this] { round(); });
}

void Asking::ask(const Place& place)
{
    net::ClientRequest request;
    request.host = place.address;
    request.port = place.port;
    request.host_header = place.authority;
    request.target = place.base + question_.target;
    request.max_reply = question_.limit;
    const Duration left = std::max<Duration>(deadline_ - Clock::now(), 1ms);
    request.connect_within = std::min(left, connect_within);
    request.answer_within = std::min(left, answer_within);
    asked_[place] = http_.send(std::move(request), [this, place](const Result<net::ClientResponse>& response) { heard(place, response); });
}

void Asking::heard(const Place& place, const Result<net::ClientResponse>& response)
{
    const net::Handle ended = std::exchange(asked_[place], nullptr);
    asked_.erase(place);
    if (response && response.value().status == 200) {
        const Result<void> accepted = question_.accept(response.value().body);
        if (accepted) return finish(response.value().body);
        if (accepted.error().code != Errc::malformed) refused_ = accepted.error();
        causes_[place] = accepted.error().message;
        return next();
    }
    if (response && response.value().status == 404 && is_problem(response.value()))
        return finish(failure(Errc::not_found, problem_detail(response.value().body).value_or("tracker: " + question_.target + ": not found")));
    causes_[place] = response ? told_by(response.value()) : response.error().message;
    if (response && response.value().status == wrong_bytes && is_problem(response.value()))  // another store may be well; asking the same one again is no help
        refused_ =
            Error{Errc::integrity, "tracker: " + question_.target + ": " + place.text() + ": " + causes_[place], "check the store with shoal-seeder verify"};
    next();
}

std::string Asking::causes() const
{
    std::vector<std::string> told;
    for (const Unresolved& one : directory_.unresolved()) told.push_back(one.name + ": " + one.cause);
    std::map<Place, std::string> all = causes_;
    for (const auto& [place, request] : asked_) all.emplace(place, "no answer yet");
    for (const auto& [place, cause] : all) told.push_back(place.text() + ": " + cause);
    std::string text;
    for (std::size_t i = 0; i < told.size() && i < most_told; ++i) text.append(i == 0 ? "" : ", ").append(told[i]);
    if (told.size() > most_told) text += " and " + std::to_string(told.size() - most_told) + " more";
    return text.empty() ? "no address" : text;
}

void Asking::give_up()
{
    const bool nameless = !directory_.unresolved().empty() && directory_.places().empty();
    const char* hint = nameless ? "set --tracker (SHOAL_TRACKER) to a tracker's URL" : "see that a tracker runs there, or set --tracker (SHOAL_TRACKER)";
    finish(failure(Errc::timed_out, "tracker: " + question_.target + ": none answered in time: " + causes(), hint));
}

void Asking::finish(Result<std::string> result)
{
    asked_.clear();
    wait_.reset();
    end_.reset();
    const Done done = std::exchange(done_, nullptr);
    done(std::move(result));
}

}  // namespace shoal::control
