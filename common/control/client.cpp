#include "common/control/client.hpp"

#include "common/control/asking.hpp"
#include "common/control/directory.hpp"
#include "common/control/link.hpp"
#include "common/net/http.hpp"

#include <algorithm>
#include <list>
#include <set>
#include <utility>

namespace shoal::control {
namespace {

constexpr std::size_t most_places = 64;
constexpr Duration leave_within = std::chrono::seconds{1};

}  // namespace

struct Client::Impl final : Link::Owner {
    Impl(net::Loop& main_loop, const std::vector<std::string>& urls, View& owner)
        : loop{main_loop}, view{owner}, http{loop}, directory{loop, urls, [this] { follow(); }}
    {}

    // --- what a link asks and tells

    wire::Beat state() override { return view.beat(); }
    [[nodiscard]] bool hold() const override { return view.hold(); }
    void answered(Link& link, const Place& place, const wire::Reply& reply) override
    {
        if (!reply.tracker.is_zero()) identify(link, place, reply.tracker);
        view.on_reply(reply);
    }

    // `place` answered as `id`: to which link does it belong from now on?
    void identify(Link& link, const Place& place, const TrackerId& id)
    {
        if (link.id() == id) return;
        Link* known = find(id);
        if (known == nullptr && link.places().size() == 1) return link.became(id);  // the first answer, or a tracker that was restarted
        link.remove(place);
        if (known != nullptr) {
            known->add(place, link.sequence());
        } else {
            begin(place).became(id);
        }
        forget_empty();
    }

    [[nodiscard]] Link* find(const TrackerId& id) const
    {
        const auto link = std::find_if(links.begin(), links.end(), [&id](const auto& one) { return one->id() == id; });
        return link == links.end() ? nullptr : link->get();
    }

    Link& begin(const Place& place)
    {
        std::uint64_t after = last_sequence;
        for (const auto& link : links) after = std::max(after, link->sequence());
        links.push_back(std::make_unique<Link>(loop, http, *this, place, after));
        return *links.back();
    }

    void forget_empty()
    {
        for (const auto& link : links) {
            if (link->places().empty()) last_sequence = std::max(last_sequence, link->sequence());
        }
        std::erase_if(links, [](const auto& link) { return link->places().empty(); });
    }

    // --- where trackers are

    // The names have been resolved again: new addresses get a link, gone ones lose theirs.
    void follow()
    {
        if (!started || leaving) return;
        const auto places = directory.places();
        const std::set<Place> now{places.begin(), places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), most_places))};
        std::set<Place> known;
        for (const auto& link : links) {
            for (const Place& place : std::vector{link->places()}) {
                if (now.contains(place))
                    known.insert(place);
                else
                    link->remove(place);
            }
        }
        forget_empty();
        for (const Place& place : now) {
            if (!known.contains(place)) begin(place);
        }
    }

    [[nodiscard]] const Link* link_of(const Place& place) const
    {
        const auto has = [&place](const auto& link) { return std::find(link->places().begin(), link->places().end(), place) != link->places().end(); };
        const auto link = std::find_if(links.begin(), links.end(), has);
        return link == links.end() ? nullptr : link->get();
    }

    [[nodiscard]] bool is_answering(const Place& place) const
    {
        const Link* link = link_of(place);
        return link != nullptr && link->is_answering(place);
    }

    // Those first whose last beat was answered.
    [[nodiscard]] std::vector<Place> best_first() const
    {
        auto places = directory.places();
        std::stable_partition(places.begin(), places.end(), [this](const Place& place) { return is_answering(place); });
        return places;
    }

    // --- what the program asks

    void get(Question question, std::function<void(Result<std::string>)> done)
    {
        directory.start();
        const auto at = askings.insert(askings.end(), nullptr);
        const auto ended = [this, at, done = std::move(done)](Result<std::string> result) {
            const auto asking = std::move(*at);
            askings.erase(at);
            done(std::move(result));
        };
        *at = std::make_unique<Asking>(
            loop, http, directory, [this] { return best_first(); }, std::move(question), ended);
    }

    void leave(std::function<void()> done)
    {
        leaving = true;
        auto tell = std::make_shared<std::function<void()>>(std::move(done));
        const auto finish = [tell] {
            if (auto once = std::exchange(*tell, nullptr)) once();
        };
        auto left = std::make_shared<std::size_t>(links.size());
        leave_timer = loop.after(links.empty() ? Duration{} : leave_within, finish);
        for (const auto& link : links) {
            link->leave([left, finish] {
                if (--*left == 0) finish();
            });
        }
    }

    [[nodiscard]] std::vector<TrackerState> states() const
    {
        std::vector<TrackerState> states;
        for (const Place& place : directory.places()) {
            const Link* link = link_of(place);
            states.push_back({place.text(), is_answering(place), link == nullptr ? "" : link->cause(place)});
        }
        for (const Unresolved& one : directory.unresolved()) states.push_back({one.name, false, one.cause});
        return states;
    }

    net::Loop& loop;
    View& view;
    net::HttpClient http;
    Directory directory;
    std::list<std::unique_ptr<Link>> links;  // one a tracker, as far as is known
    std::list<std::unique_ptr<Asking>> askings;
    std::uint64_t last_sequence = 0;  // the greatest of links that are gone
    net::Handle leave_timer;
    bool started = false;
    bool leaving = false;
};

Client::Client(net::Loop& loop, std::vector<std::string> trackers, View& view) : impl_{std::make_unique<Impl>(loop, trackers, view)} {}

Client::~Client() = default;

void Client::start()
{
    impl_->started = true;
    impl_->directory.start();
    impl_->follow();
}

void Client::beat_now()
{
    if (impl_->leaving) return;
    for (const auto& link : impl_->links) link->beat_now();
}

void Client::get(Question question, std::function<void(Result<std::string>)> done)
{
    impl_->get(std::move(question), std::move(done));
}

void Client::leave(std::function<void()> done)
{
    impl_->leave(std::move(done));
}

std::vector<TrackerState> Client::trackers() const
{
    return impl_->states();
}

}  // namespace shoal::control
