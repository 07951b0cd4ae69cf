// An S3 that misbehaves as told: raw answers on loopback, and what it was asked. It serves one connection at a time; destroyed it hangs up.
#pragma once

#include "common/objectstore/s3_store.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace shoal::objectstore {

// What follows an answer: the end of the connection, the next request on it, silence, or a zero byte ten times a second.
enum class Then { hang_up, go_on, silence, drip };

struct Answer {
    std::string bytes;  // may be none
    Then then = Then::hang_up;
};

inline std::string answer(const std::string& status, const std::string& body = "", const std::string& headers = "")
{
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

// After which the connection may be used again.
inline Answer kept_alive(std::string text)
{
    constexpr std::string_view close = "Connection: close\r\n";
    text.erase(text.find(close), close.size());
    return {std::move(text), Then::go_on};
}

inline std::string problem(const std::string& status, const std::string& code, const std::string& headers = "")
{
    return answer(status, "<Error xmlns=\"urn:x\"><Code>" + code + "</Code><Message>told</Message></Error>", headers);
}

class Stub {
public:
    // How the n-th request is answered, from 0 on.
    using Script = std::function<Answer(const std::string& request, std::size_t n)>;
    explicit Stub(Script script) : script_{std::move(script)}, listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        ::listen(listener_, 16);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { serve(); }};
    }
    // The answers in turn; the last for all that follow.
    explicit Stub(std::vector<Answer> answers)
        : Stub{[answers = std::move(answers)](const std::string&, std::size_t n) { return answers[std::min(n, answers.size() - 1)]; }}
    {}
    ~Stub()
    {
        ::shutdown(listener_, SHUT_RDWR);
        {
            const std::lock_guard lock{mutex_};
            over_ = true;
            if (peer_ >= 0) ::shutdown(peer_, SHUT_RDWR);
        }
        thread_.join();
        ::close(listener_);
        for (const int kept : kept_) ::close(kept);
    }
    Stub(const Stub&) = delete;
    Stub& operator=(const Stub&) = delete;

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::vector<std::string> requests() const
    {
        const std::lock_guard lock{mutex_};
        return requests_;
    }
    [[nodiscard]] std::size_t connections() const
    {
        const std::lock_guard lock{mutex_};
        return connections_;
    }

private:
    static std::string read_request(int peer)
    {
        std::string request;
        char buffer[65536];
        while (true) {
            const std::size_t end = request.find("\r\n\r\n");
            const std::size_t length = request.find("Content-Length: ");
            if (end != std::string::npos) {
                const std::size_t body = length < end ? std::strtoul(request.c_str() + length + 16, nullptr, 10) : 0;
                if (request.size() >= end + 4 + body) return request;
            }
            const ssize_t got = ::recv(peer, buffer, sizeof buffer, 0);
            if (got <= 0) return request;
            request.append(buffer, static_cast<std::size_t>(got));
        }
    }
    static void send_all(int peer, const std::string& bytes)
    {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t more = ::send(peer, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (more <= 0) return;
            sent += static_cast<std::size_t>(more);
        }
    }
    // Until the other hangs up.
    static void drip(int peer)
    {
        pollfd readable{peer, POLLIN, 0};
        while (::poll(&readable, 1, 100) == 0) send_all(peer, std::string(1, '\0'));
    }
    Then serve_one(int peer)
    {
        const std::string request = read_request(peer);
        if (request.empty()) return Then::hang_up;
        std::size_t number = 0;
        {
            const std::lock_guard lock{mutex_};
            number = requests_.size();
            requests_.push_back(request);
        }
        const Answer told = script_(request, number);
        send_all(peer, told.bytes);
        if (told.then == Then::drip) drip(peer);
        return told.then;
    }
    bool holds(int peer)
    {
        const std::lock_guard lock{mutex_};
        peer_ = peer;
        connections_ += peer >= 0 ? 1 : 0;
        return !over_;
    }
    void serve()
    {
        while (true) {
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0) return;
            Then then = holds(peer) ? Then::go_on : Then::hang_up;
            while (then == Then::go_on) then = serve_one(peer);
            holds(-1);
            if (then == Then::silence)
                kept_.push_back(peer);
            else
                ::close(peer);
        }
    }

    Script script_;
    int listener_;
    int port_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::size_t connections_ = 0;
    int peer_ = -1;  // who is being served
    bool over_ = false;
    std::vector<int> kept_;
    std::thread thread_;
};

// Time that passes only where somebody waits.
struct FakeTime {
    Duration waited{};
    S3Clock clock()
    {
        return {[this] { return TimePoint{} + waited; }, [] { return static_cast<std::int64_t>(1'700'000'000); }, [this](Duration pause) { waited += pause; }};
    }
};

}  // namespace shoal::objectstore
