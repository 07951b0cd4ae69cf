// Where the trackers are: the addresses behind the URLs, asked for again every 10 s. On the loop.
#pragma once

#include "common/core/random.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace shoal::control {

// One address that may be a tracker. Several may be one tracker, and one may become another.
struct Place {
    std::string address;
    std::uint16_t port = 0;
    std::string authority;  // host and port as in the URL
    std::string base;       // path of the URL, without a slash at its end
    auto operator<=>(const Place&) const = default;
    [[nodiscard]] std::string text() const;  // "10.0.0.1:8080 (shoal-tracker.shoal)"
};

struct Unresolved {
    std::string name;  // "shoal-tracker.shoal:8080"
    std::string cause;
};

class Directory {
public:
    // `changed` is called whenever an answer came, also a bad one.
    Directory(net::Loop& loop, const std::vector<std::string>& urls, std::function<void()> changed);
    void start();  // asks now, and again every 10 s (0.5 s to 10 s where there is no answer); more calls do nothing

    // All addresses, each once, in the URLs' order. A name that fails later keeps the addresses it had.
    [[nodiscard]] std::vector<Place> places() const;
    [[nodiscard]] std::vector<Unresolved> unresolved() const;  // names without an address so far
    [[nodiscard]] bool has_asked() const;                      // every name has been answered, well or not

private:
    struct Name {
        std::string text;  // as given
        net::Url url;
        std::vector<std::string> addresses;
        std::string cause;
        unsigned failures = 0;
        bool asked = false;
        net::Handle lookup;
        net::Handle timer;
    };
    void ask(Name& name);
    void heard(Name& name, const Result<std::vector<std::string>>& addresses);

    net::Loop& loop_;
    std::function<void()> changed_;
    Random random_{random_seed()};
    std::vector<Name> names_;
    bool started_ = false;
};

}  // namespace shoal::control
