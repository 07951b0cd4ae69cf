// Holds each packet of netfilter's queue 0 back for a while, in order: a long link, for kernels without netem. usage: bench_delay MILLISECONDS
// On the receiving host: iptables -A INPUT -i eth0 -j NFQUEUE --queue-num 0. On the sending one a packet would still count against its socket's buffer.
#include <arpa/inet.h>
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_held = 1U << 16U;  // then packets are dropped, as a router does

struct Held {
    std::uint32_t packet;
    Clock::time_point due;
};

class Delay {
public:
    explicit Delay(std::chrono::milliseconds time) : time_{time} {}

    // Ends when the queue cannot be read any more.
    int run()
    {
        if (nfq_ == nullptr || queue_ == nullptr) return std::perror("bench_delay: netfilter's queue 0"), 1;
        constexpr std::uint32_t flags = NFQA_CFG_F_GSO | NFQA_CFG_F_FAIL_OPEN;
        nfq_set_mode(queue_, NFQNL_COPY_META, 0);
        nfq_set_queue_maxlen(queue_, most_held);
        nfq_set_queue_flags(queue_, flags, flags);
        const int room = 16 << 20;
        setsockopt(nfq_fd(nfq_), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
        while (wait() && read()) release();
        return 1;
    }

private:
    static int take(nfq_q_handle* queue, nfgenmsg* /*message*/, nfq_data* data, void* self)
    {
        auto& held = static_cast<Delay*>(self)->held_;
        const std::uint32_t packet = ntohl(nfq_get_msg_packet_hdr(data)->packet_id);
        if (held.size() >= most_held) return nfq_set_verdict(queue, packet, NF_DROP, 0, nullptr);
        held.push_back({packet, Clock::now() + static_cast<Delay*>(self)->time_});
        return 0;
    }

    bool wait()
    {
        pollfd readable{nfq_fd(nfq_), POLLIN, 0};
        const auto left = held_.empty() ? std::chrono::nanoseconds{std::chrono::seconds{1}} : std::max(held_.front().due - Clock::now(), {});
        const timespec time{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        return ppoll(&readable, 1, &time, nullptr) >= 0;
    }

    bool read()
    {
        for (int messages = 0; messages < 256; ++messages) {
            const auto length = recv(nfq_fd(nfq_), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
            if (length < 0) return errno == EAGAIN || errno == ENOBUFS;
            nfq_handle_packet(nfq_, buffer_.data(), static_cast<int>(length));
        }
        return true;
    }

    void release()
    {
        for (const auto now = Clock::now(); !held_.empty() && held_.front().due <= now; held_.pop_front())
            nfq_set_verdict(queue_, held_.front().packet, NF_ACCEPT, 0, nullptr);
    }

    std::chrono::milliseconds time_;
    std::deque<Held> held_;
    std::array<char, 65536> buffer_{};
    nfq_handle* nfq_ = nfq_open();
    nfq_q_handle* queue_ = nfq_ == nullptr ? nullptr : nfq_create_queue(nfq_, 0, &Delay::take, this);
};

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2) return std::fputs("usage: bench_delay MILLISECONDS\n", stderr), 2;
    return Delay{std::chrono::milliseconds{std::strtoul(argv[1], nullptr, 10)}}.run();
}
