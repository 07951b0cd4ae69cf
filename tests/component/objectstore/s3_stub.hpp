// An S3 that misbehaves as told: one raw answer a connection, on loopback, and what it was asked. Destroyed it hangs up.
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

struct Answer {
    std::string bytes;        // empty: it hangs up without one
    bool stays_open = false;  // and sends no more
};

inline std::string answer(const std::string& status, const std::string& body = "", const std::string& headers = "")
{
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" + headers + "\r\n" + body;
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
    void serve()
    {
        while (true) {
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0) return;
            const std::string request = read_request(peer);
            std::size_t number = 0;
            {
                const std::lock_guard lock{mutex_};
                number = requests_.size();
                requests_.push_back(request);
            }
            const Answer told = script_(request, number);
            for (std::size_t sent = 0; sent < told.bytes.size();) {
                const ssize_t more = ::send(peer, told.bytes.data() + sent, told.bytes.size() - sent, MSG_NOSIGNAL);
                if (more <= 0) break;
                sent += static_cast<std::size_t>(more);
            }
            if (told.stays_open)
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
