// What the network tests share: a loop that runs until something has happened, and a raw TCP peer that says exactly what a test wants.
#pragma once

#include "common/net/http.hpp"
#include "common/net/loop.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace shoal::net::test {

// Runs the loop until `happened`, 20 s at most; false if it did not.
inline bool run_until(Loop& loop, const std::function<bool()>& happened)
{
    bool late = false;
    const Handle deadline = loop.after(std::chrono::seconds{20}, [&] {
        late = true;
        loop.stop();
    });
    const Handle check = loop.every(std::chrono::milliseconds{1}, [&] {
        if (happened()) loop.stop();
    });
    loop.run();
    return !late;
}

inline std::uint16_t port_of(const std::string& endpoint)
{
    return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
}

class Socket {
public:
    explicit Socket(int descriptor) : descriptor_{descriptor} {}
    Socket(Socket&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    Socket& operator=(Socket&& other) noexcept
    {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket()
    {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int descriptor() const { return descriptor_; }

    // False when the other side has gone.
    bool send(std::string_view bytes) const { return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()); }

    // What is there now, without waiting.
    [[nodiscard]] std::string take() const
    {
        std::string all;
        char chunk[4096];
        for (ssize_t got = 0; (got = ::recv(descriptor_, chunk, sizeof chunk, MSG_DONTWAIT)) > 0;) all.append(chunk, static_cast<std::size_t>(got));
        return all;
    }

    // The other side has closed or reset.
    [[nodiscard]] bool is_over() const
    {
        char byte = 0;
        const ssize_t got = ::recv(descriptor_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }

    void reset()  // closes with RST
    {
        const linger now{1, 0};
        ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        ::close(std::exchange(descriptor_, -1));
    }

private:
    int descriptor_;
};

inline sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

inline Socket connect_to(std::uint16_t port)
{
    Socket socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const sockaddr_in address = loopback(port);
    if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Socket{-1};
    return socket;
}

inline std::uint16_t bound_port(const Socket& socket)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

// A listening socket that accepts only when asked: until then it is a black hole that completes connections and never answers.
class RawServer {
public:
    RawServer() : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}
    {
        const sockaddr_in address = loopback(0);
        if (::bind(listener_.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
        if (::listen(listener_.descriptor(), 100) != 0) std::abort();
    }
    [[nodiscard]] std::uint16_t port() const { return bound_port(listener_); }
    Socket accept() { return Socket{::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC)}; }  // -1 if nobody waits

private:
    Socket listener_;
};

// A port that refuses every connection: held, so that nobody else on the machine listens there meanwhile.
class RefusingPort {
public:
    RefusingPort() : bound_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        const sockaddr_in address = loopback(0);
        if (::bind(bound_.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
    }
    [[nodiscard]] std::uint16_t number() const { return bound_port(bound_); }

private:
    Socket bound_;
};

// A name no resolver has to ask for: a label is 63 bytes at most (RFC 1035, section 2.3.4). Other names may keep a slow name server busy for seconds.
inline const std::string no_name = std::string(64, 'x') + ".invalid";

}  // namespace shoal::net::test
