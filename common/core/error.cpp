#include "common/core/error.hpp"

#include <cerrno>
#include <system_error>

namespace shoal {
namespace {

Errc kind_of(int errno_value)
{
    switch (errno_value) {
    case ENOENT: return Errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case EADDRINUSE:
    case EADDRNOTAVAIL: return Errc::not_allowed;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Errc::no_space;
    default: return Errc::io;
    }
}

}  // namespace

std::string Error::text() const
{
    return hint.empty() ? message : message + "; " + hint;
}

Error system_error(int errno_value, std::string_view what, std::string_view on)
{
    std::string message{what};
    message.append(": ").append(on).append(": ").append(std::generic_category().message(errno_value));
    if (errno_value == EFBIG) message += " (the limit of 'ulimit -f', or the filesystem's)";
    return {kind_of(errno_value), std::move(message), {}};
}

int exit_code(Errc code)
{
    const int value = static_cast<int>(code);
    return value <= static_cast<int>(Errc::timed_out) ? value : 1;
}

}  // namespace shoal
