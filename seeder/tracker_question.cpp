#include "seeder/tracker_question.hpp"

#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "seeder/crew.hpp"
#include "seeder/removal.hpp"

#include <optional>

namespace shoal::seeder {
namespace {

constexpr std::chrono::seconds patience{10};
constexpr std::size_t max_answer = 64U << 20U;

Error no_answer(const std::string& tracker, const std::string& cause)
{
    return {Errc::timed_out, "tracker does not answer: " + tracker + ": " + cause, "set --tracker or SHOAL_TRACKER, or go without by --offline --force"};
}

class Question {
public:
    Question(const RevisionId& revision, const Stop& stop)
        : revision_{to_string(revision)}, target_{"/api/v1/revisions/" + to_hex(revision)}, stop_{stop}, client_{loop_}
    {}

    Result<void> ask(const std::vector<std::string>& trackers)
    {
        for (const std::string& tracker : trackers) {
            BOOST_OUTCOME_TRY(url, net::parse_url(tracker));
            ++open_;
            handles_.push_back(net::resolve(
                loop_, url.host, patience, [this, url, tracker](Result<std::vector<std::string>> addresses) { resolved(url, tracker, std::move(addresses)); }));
        }
        if (open_ == 0) return failure(no_answer("none is named", "there is nobody to ask"));
        const net::Handle watch = loop_.every(std::chrono::milliseconds{100}, [this] {
            if (stop_.requested()) settle(Crew::given_up());
        });
        loop_.run();
        if (trouble_) return failure(*trouble_);
        return success();
    }

private:
    void resolved(const net::Url& url, const std::string& tracker, Result<std::vector<std::string>> addresses)
    {
        if (!addresses) return settle(no_answer(tracker, addresses.error().message));
        for (const std::string& address : addresses.value()) {
            ++open_;
            net::ClientRequest request;
            request.host = address;
            request.port = url.port;
            request.host_header = url.host + ":" + std::to_string(url.port);
            request.target = url.path == "/" ? target_ : url.path + target_;
            request.max_reply = max_answer;
            request.answer_within = patience;
            const std::string name = address + ":" + std::to_string(url.port) + " (" + url.host + ")";
            handles_.push_back(client_.send(std::move(request), [this, name](Result<net::ClientResponse> response) { answered(name, std::move(response)); }));
        }
        done();
    }

    void answered(const std::string& name, Result<net::ClientResponse> response)
    {
        if (!response) return settle(no_answer(name, response.error().message));
        if (response.value().status != 200) return settle(no_answer(name, "expected HTTP 200, found " + std::to_string(response.value().status)));
        const auto free = judge_answer(response.value().body, name, revision_);
        if (!free) return settle(free.error());
        done();
    }

    // The first trouble decides, but that somebody uses it is worth more than that somebody else is silent.
    void settle(const Error& error)
    {
        if (!trouble_ || error.code == Errc::not_allowed) trouble_ = error;
        loop_.stop();
    }

    void done()
    {
        if (--open_ == 0) loop_.stop();
    }

    std::string revision_;
    std::string target_;
    const Stop& stop_;
    net::Loop loop_;
    net::HttpClient client_;
    std::vector<net::Handle> handles_;
    std::size_t open_ = 0;
    std::optional<Error> trouble_;
};

}  // namespace

Result<void> ask_trackers(const std::vector<std::string>& trackers, const RevisionId& revision, const Stop& stop)
{
    return Question{revision, stop}.ask(trackers);
}

}  // namespace shoal::seeder
