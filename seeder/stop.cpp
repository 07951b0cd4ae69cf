#include "seeder/stop.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace shoal::seeder {
namespace {

constexpr int grace_ms = 3000;  // a container's SIGTERM is followed by SIGKILL; five seconds are promised

sigset_t asked_to_end()
{
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    return set;
}

// Which of both is readable first; neither within `timeout_ms`: -1.
int first_of(int one, int two, int timeout_ms)
{
    std::array<pollfd, 2> waiting{{{one, POLLIN, 0}, {two, POLLIN, 0}}};
    while (::poll(waiting.data(), waiting.size(), timeout_ms) < 0) {
    }
    if (waiting[1].revents != 0) return two;
    return waiting[0].revents != 0 ? one : -1;
}

}  // namespace

Stop::Stop() : ended_{::eventfd(0, EFD_CLOEXEC)}
{
    const sigset_t set = asked_to_end();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    watcher_ = std::thread{[this] { watch(); }};
}

Stop::~Stop()
{
    const std::uint64_t one = 1;
    (void)!::write(ended_, &one, sizeof one);
    watcher_.join();
    ::close(ended_);
    const sigset_t set = asked_to_end();
    if (!requested()) ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Stop::watch()
{
    const sigset_t set = asked_to_end();
    const int signals = ::signalfd(-1, &set, SFD_CLOEXEC);
    if (first_of(signals, ended_, -1) == signals) {
        signalfd_siginfo info{};
        (void)!::read(signals, &info, sizeof info);
        signal_ = static_cast<int>(info.ssi_signo);
        if (first_of(ended_, -1, grace_ms) != ended_) {
            std::fputs("shoal-seeder: ended: by a signal: what was under way is given up; run it again\n", stderr);
            ::_exit(exit_code());
        }
    }
    ::close(signals);
}

}  // namespace shoal::seeder
