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

const char* usual_hint(Errc code)
{
    switch (code) {
    case Errc::internal: return "please report it, with the last lines of the log";
    case Errc::invalid: return "correct what is named, or see --help";
    case Errc::not_found: return "check the name, or see 'shoal-seeder ls' for what is published";
    case Errc::not_allowed: return "give this user access to what is named, or name another place";
    case Errc::no_space: return "free some space, or name another place, and run it again";
    case Errc::integrity: return "see 'shoal-seeder verify' for all that is damaged, delete those objects, and publish again from the source";
    case Errc::timed_out: return "see that tracker, seeder and store can be reached, and run it again";
    case Errc::interrupted: return "run it again: what was finished is kept";
    case Errc::malformed: return "remove what is named, or use the version of Shoal that wrote it";
    case Errc::too_large: return "keep to the limit that is named";
    case Errc::exists: return "remove what is there, or choose another name";
    case Errc::changed: return "run it again when nobody else writes there";
    case Errc::io: return "see to the disk or the network that is named, and run it again";
    }
    return "please report it";
}

}  // namespace

Error with_hint(Error error)
{
    if (error.hint.empty()) error.hint = usual_hint(error.code);
    return error;
}

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
    const std::string text = one_line(program + ": " + with_hint(error).text());
    std::fprintf(stderr, "%s\n", text.c_str());
    write_termination_message(termination_log, text);
    return exit_code(error.code);
}

}  // namespace shoal::cli
