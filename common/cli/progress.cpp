#include "common/cli/progress.hpp"

#include "common/core/quantity.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace shoal::cli {
namespace {

constexpr std::chrono::milliseconds terminal_interval{200};
constexpr std::size_t bar_width = 20;

// Never above 100, and 100 only when all is there.
unsigned percent(const Progress& progress)
{
    if (progress.total == 0) return 0;
    const double share = static_cast<double>(progress.bytes) / static_cast<double>(progress.total);
    return progress.bytes >= progress.total ? 100 : std::min(99U, static_cast<unsigned>(share * 100));
}

std::string bar(unsigned share)
{
    const std::size_t filled = share * bar_width / 100;
    return "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] ";
}

std::size_t columns()
{
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal()
{
    const char* kind = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view{kind} != "dumb");
}

}  // namespace

ProgressLine::ProgressLine(std::chrono::milliseconds interval) : interval_{interval}, terminal_{is_terminal()} {}

void ProgressLine::show(const Progress& progress, TimePoint now)
{
    if (last_ != TimePoint{} && now - last_ < (terminal_ ? terminal_interval : interval_)) return;
    last_ = now;
    if (!terminal_) {
        std::fprintf(stderr, "%s\n", line(progress).c_str());
        return;
    }
    open_ = true;
    const std::string text = (bar(percent(progress)) + line(progress)).substr(0, columns() - 1);
    const char* colour = std::getenv("NO_COLOR");
    const bool plain = colour != nullptr && *colour != '\0';
    std::fprintf(stderr, plain ? "\r%s\x1b[K" : "\r\x1b[36m%s\x1b[0m\x1b[K", text.c_str());
    std::fflush(stderr);
}

void ProgressLine::finish()
{
    if (open_) std::fputs("\n", stderr);
    open_ = false;
}

std::string ProgressLine::line(const Progress& progress)
{
    std::string text = progress.what + ": " + format_size(progress.bytes) + " of " + format_size(progress.total) + " (" + std::to_string(percent(progress)) +
                       " %), " + format_rate(progress.rate);
    if (progress.rate > 0 && progress.bytes < progress.total) {
        const auto seconds = std::min<std::uint64_t>((progress.total - progress.bytes) / progress.rate + 1, 365UL * 86400);
        text += ", " + format_duration(std::chrono::seconds{seconds}) + " left";
    }
    return progress.detail.empty() ? text : text + ", " + progress.detail;
}

}  // namespace shoal::cli
