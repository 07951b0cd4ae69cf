#include "common/net/http.hpp"

#include <boost/asio/ip/address.hpp>

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace shoal::net {
namespace {

using Addresses = Result<std::vector<std::string>>;

// One question, between the loop that waits and the thread that asks.
struct Lookup {
    std::string host;
    std::mutex mutex;
    Loop* loop = nullptr;  // null: nobody waits any more
    std::function<void(Addresses)> done;
    Handle deadline;

    // On the loop, whichever comes first: the answer or the deadline.
    void finish(Addresses addresses)
    {
        {
            const std::lock_guard lock{mutex};
            loop = nullptr;
        }
        deadline.reset();
        if (auto tell = std::exchange(done, nullptr)) tell(std::move(addresses));
    }
};

std::string text_of(const addrinfo& info)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = info.ai_family == AF_INET6 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(info.ai_addr)->sin6_addr)
                                                     : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(info.ai_addr)->sin_addr);
    return ::inet_ntop(info.ai_family, address, text.data(), text.size()) == nullptr ? std::string{} : std::string{text.data()};
}

Error lookup_error(int code, const std::string& host)
{
    const std::string message = "resolve: " + host + ": ";
    if (code == EAI_SYSTEM) return system_error(errno, "resolve", host);
    if (code == EAI_NONAME || code == EAI_NODATA) return {Errc::not_found, message + "no such name", {}};
    return {Errc::io, message + ::gai_strerror(code), {}};
}

Addresses look_up(const std::string& host)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0) return failure(lookup_error(code, host));
    std::vector<std::string> addresses;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        std::string text = one->ai_family == AF_INET || one->ai_family == AF_INET6 ? text_of(*one) : std::string{};
        if (!text.empty() && std::find(addresses.begin(), addresses.end(), text) == addresses.end()) addresses.push_back(std::move(text));
    }
    ::freeaddrinfo(found);
    if (addresses.empty()) return failure(Errc::not_found, "resolve: " + host + ": no such name");
    return addresses;
}

// getaddrinfo cannot be told to stop, and a name server that is silent holds it for half a minute. So these few threads belong to the process, not to
// a loop: nobody joins them, and a program that ends does not wait for them.
class LookupThreads {
public:
    static LookupThreads& of_process()
    {
        static auto& threads = *new LookupThreads;  // never destroyed: its threads may be inside getaddrinfo at exit
        return threads;
    }

    bool push(std::shared_ptr<Lookup> lookup)
    {
        const std::lock_guard lock{mutex_};
        if (queue_.size() >= max_queued) return false;
        queue_.push_back(std::move(lookup));
        if (queue_.size() > idle_ && threads_.size() < max_threads) threads_.emplace_back([this] { serve(); });
        wake_.notify_one();
        return true;
    }

private:
    static constexpr std::size_t max_threads = 4;
    static constexpr std::size_t max_queued = 256;

    void serve()
    {
        while (true) {
            const std::shared_ptr<Lookup> lookup = take();
            if (is_wanted(*lookup)) answer(lookup, look_up(lookup->host));
        }
    }

    std::shared_ptr<Lookup> take()
    {
        std::unique_lock lock{mutex_};
        ++idle_;
        wake_.wait(lock, [this] { return !queue_.empty(); });
        --idle_;
        auto lookup = std::move(queue_.front());
        queue_.pop_front();
        return lookup;
    }

    static bool is_wanted(Lookup& lookup)
    {
        const std::lock_guard lock{lookup.mutex};
        return lookup.loop != nullptr;
    }

    static void answer(const std::shared_ptr<Lookup>& lookup, Addresses addresses)
    {
        const std::lock_guard lock{lookup->mutex};
        if (lookup->loop == nullptr) return;
        lookup->loop->post([weak = std::weak_ptr{lookup}, addresses = std::move(addresses)] {
            if (const auto waiting = weak.lock()) waiting->finish(addresses);
        });
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::shared_ptr<Lookup>> queue_;
    std::vector<std::thread> threads_;
    std::size_t idle_ = 0;
};

// Owned by the Handle: the loop forgets the lookup with it, the thread that may be inside getaddrinfo finds out later.
struct Waiting {
    std::shared_ptr<Lookup> lookup;
    Handle answer;  // of what needs no asking
    ~Waiting()
    {
        lookup->done = nullptr;
        lookup->deadline.reset();
        const std::lock_guard lock{lookup->mutex};
        lookup->loop = nullptr;
    }
};

}  // namespace

Handle resolve(Loop& loop, const std::string& host, Duration deadline, std::function<void(Addresses)> done)
{
    auto waiting = std::make_shared<Waiting>();
    waiting->lookup = std::make_shared<Lookup>();
    Lookup& lookup = *waiting->lookup;
    lookup.host = host;
    lookup.loop = &loop;
    lookup.done = std::move(done);
    const std::weak_ptr<Lookup> weak = waiting->lookup;
    const auto finish_with = [weak](const Addresses& addresses) {
        if (const auto one = weak.lock()) one->finish(addresses);
    };
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(host, ec);
    if (!ec) {
        waiting->answer = loop.after({}, [finish_with, text = address.to_string()] { finish_with(std::vector<std::string>{text}); });
        return waiting;
    }
    if (!LookupThreads::of_process().push(waiting->lookup)) {
        waiting->answer = loop.after({}, [finish_with, host] { finish_with(failure(Errc::io, "resolve: " + host + ": too many lookups hang already")); });
        return waiting;
    }
    lookup.deadline =
        loop.after(deadline, [finish_with, host] { finish_with(failure(Errc::timed_out, "resolve: " + host + ": no answer from the name server in time")); });
    return waiting;
}

}  // namespace shoal::net
