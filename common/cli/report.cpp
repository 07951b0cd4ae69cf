#include "common/cli/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace shoal::cli {
namespace {

constexpr const char* termination_log = "/dev/termination-log";
constexpr std::size_t max_termination_bytes = 4096;

std::string one_line(std::string text)
{
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return text;
}

// At most `limit` bytes that end between two UTF-8 characters.
std::string_view cut(std::string_view text, std::size_t limit)
{
    if (text.size() <= limit) return text;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0U) == 0x80U) --limit;
    return text.substr(0, limit);
}

}  // namespace

void write_termination_message(const char* path, std::string_view text)
{
    const int descriptor = ::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // never created: outside a pod it does not exist
    if (descriptor < 0) return;
    const std::string_view message = cut(text, max_termination_bytes);
    // An earlier run's message goes first; nobody is left to hear of a failure here.
    [[maybe_unused]] const int emptied = ::ftruncate(descriptor, 0);
    [[maybe_unused]] const ssize_t written = ::write(descriptor, message.data(), message.size());
    ::close(descriptor);
}

int report(const std::string& program, const Error& error)
{
    const std::string text = one_line(program + ": " + error.text());
    std::fprintf(stderr, "%s\n", text.c_str());
    write_termination_message(termination_log, text);
    return exit_code(error.code);
}

}  // namespace shoal::cli
