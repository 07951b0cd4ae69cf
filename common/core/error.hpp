// What went wrong, told once: a kind to branch on, the sentence for people, and the way out. A value; any thread.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

// The first seven are exit codes (docs/operations.md); the others are for callers that branch, and exit as 1 if nobody does.
enum class Errc {
    internal = 1,
    invalid = 2,      // usage: a flag, a name, a digest that cannot be
    not_found = 3,    // model, revision, tag or object is not there
    not_allowed = 4,  // permissions, read-only, a destination that is not ours, an address that another process has
    no_space = 5,
    integrity = 6,  // bytes that are not what their digest says
    timed_out = 7,  // a deadline passed, or no source is left
    interrupted,    // SIGTERM or SIGINT
    malformed,      // untrusted bytes that do not decode
    too_large,      // a limit of ours; the message names it
    exists,         // put if absent: something is there
    changed,        // conditional read or write: another version is there
    io,             // EIO, ESTALE and their kind; the message has the path
};

struct Error {
    Errc code = Errc::internal;
    std::string message;  // "<what failed>: <on what>: <expected, found or cause>"; never a secret
    std::string hint;     // what to do, a phrase without a full stop; may be empty

    // "<message>; <hint>", the form of the last line on stderr.
    [[nodiscard]] std::string text() const;
    bool operator==(const Error&) const = default;
};

// From errno: ENOENT not_found; EACCES, EPERM, EROFS, ELOOP, EADDRINUSE, EADDRNOTAVAIL not_allowed; ENOSPC, EDQUOT, EFBIG no_space; else io. Message: "<what>: <on>: <strerror>".
Error system_error(int errno_value, std::string_view what, std::string_view on);

// Whether the same may succeed a little later: io, timed_out.
constexpr bool may_pass(Errc code)
{
    return code == Errc::io || code == Errc::timed_out;
}

// Process exit code of an error: 1 to 7; interrupted is the caller's, who knows the signal.
int exit_code(Errc code);

}  // namespace shoal
