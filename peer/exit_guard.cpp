#include "peer/exit_guard.hpp"

#include <csignal>
#include <unistd.h>

namespace shoal::peer {
namespace {

constexpr unsigned patience_seconds = 4;
volatile std::sig_atomic_t code_at_alarm = 1;

void leave_now(int)
{
    ::_exit(code_at_alarm);
}

}  // namespace

void exit_by_alarm(int code)
{
    code_at_alarm = code;
    struct sigaction action {};
    action.sa_handler = leave_now;
    ::sigaction(SIGALRM, &action, nullptr);
    ::alarm(patience_seconds);
}

}  // namespace shoal::peer
