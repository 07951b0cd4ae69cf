#include "common/cli/process.hpp"

#include "common/cli/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace shoal::cli {
namespace {

// Reads of a closed stdin and writes to a closed stdout go on failing: the way that is open is the other one.
void keep_closed(int descriptor)
{
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
    const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest that is free
    if (opened >= 0 && opened != descriptor) ::close(opened);
}

constexpr unsigned alarm_seconds = 4;
volatile std::sig_atomic_t code_at_alarm = 1;

void leave_now(int /*signal*/)
{
    ::_exit(code_at_alarm);
}

}  // namespace

void begin_process()
{
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) keep_closed(descriptor);
}

void exit_by_alarm(int code)
{
    code_at_alarm = code;
    struct sigaction action {};
    action.sa_handler = leave_now;
    ::sigaction(SIGALRM, &action, nullptr);
    ::alarm(alarm_seconds);
}

int end_process(const std::string& program, int code)
{
    const int cause = std::fflush(stdout) == 0 ? 0 : errno;
    if ((cause == 0 && std::ferror(stdout) == 0) || code != 0) return code;
    const std::string why = cause != 0 ? std::generic_category().message(cause) : "it is closed, or its disk is full";  // of an earlier write no errno is left
    return report(program, {Errc::io, "cannot write the result: stdout: " + why, "run it again with a stdout that can be written: what it did is done"});
}

}  // namespace shoal::cli
