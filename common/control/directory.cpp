#include "common/control/directory.hpp"

#include "common/control/retry.hpp"
#include "common/net/address.hpp"

#include <algorithm>
#include <utility>

namespace shoal::control {
namespace {

constexpr Duration ask_again = std::chrono::seconds{10};
constexpr Duration ask_within = std::chrono::seconds{8};

std::string base_of(const net::Url& url)
{
    std::string base = url.path.substr(0, url.path.find('?'));
    while (base.ends_with('/')) base.pop_back();
    return base;
}

}  // namespace

std::string Place::text() const
{
    const std::string here = net::endpoint_text(address, port);
    return here == authority ? here : here + " (" + authority.substr(0, authority.rfind(':')) + ")";
}

Directory::Directory(net::Loop& loop, const std::vector<std::string>& urls, std::function<void()> changed) : loop_{loop}, changed_{std::move(changed)}
{
    for (const std::string& text : urls) {
        Name name;
        name.text = text;
        if (auto url = net::parse_url(text))
            name.url = std::move(url.value());
        else
            name.cause = url.error().message;
        names_.push_back(std::move(name));
    }
}

void Directory::start()
{
    if (std::exchange(started_, true)) return;
    for (Name& name : names_) ask(name);
}

void Directory::ask(Name& name)
{
    name.asked = name.asked || name.url.host.empty();
    if (name.url.host.empty()) return;  // not a URL; its cause says so
    name.lookup = net::resolve(loop_, name.url.host, ask_within, [this, &name](const Result<std::vector<std::string>>& addresses) { heard(name, addresses); });
}

void Directory::heard(Name& name, const Result<std::vector<std::string>>& addresses)
{
    name.asked = true;
    name.failures = addresses ? 0 : name.failures + 1;
    name.cause = addresses ? "" : addresses.error().message;
    if (addresses) name.addresses = addresses.value();
    const Duration wait = addresses || !name.addresses.empty() ? jittered(ask_again, random_) : retry_delay(name.failures, ask_again, random_);
    name.timer = loop_.after(wait, [this, &name] { ask(name); });
    changed_();
}

std::vector<Place> Directory::places() const
{
    std::vector<Place> places;
    for (const Name& name : names_) {
        for (const std::string& address : name.addresses) {
            const bool known = std::any_of(places.begin(), places.end(), [&](const Place& one) { return one.address == address && one.port == name.url.port; });
            if (!known) places.push_back({address, name.url.port, net::endpoint_text(name.url.host, name.url.port), base_of(name.url)});
        }
    }
    return places;
}

std::vector<Unresolved> Directory::unresolved() const
{
    std::vector<Unresolved> unresolved;
    for (const Name& name : names_) {
        if (name.addresses.empty())
            unresolved.push_back(
                {name.url.host.empty() ? name.text : net::endpoint_text(name.url.host, name.url.port), name.cause.empty() ? "not resolved yet" : name.cause});
    }
    return unresolved;
}

bool Directory::has_asked() const
{
    return std::all_of(names_.begin(), names_.end(), [](const Name& name) { return name.asked; });
}

}  // namespace shoal::control
