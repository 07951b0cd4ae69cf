#include "peer/process_identity.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::peer {
namespace {

// Field 22 of /proc/<pid>/stat, counted after the command's closing bracket (proc(5)); 0: unknown.
std::uint64_t start_of(std::int64_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bracket = text.rfind(')');
    if (bracket == std::string::npos) return 0;
    std::istringstream rest{text.substr(bracket + 1)};
    std::string skipped;
    for (int field = 3; field < 22; ++field) rest >> skipped;
    std::uint64_t start = 0;
    rest >> start;
    return start;
}

}  // namespace

ProcessIdentity own_identity()
{
    ProcessIdentity self;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> self.boot;
    struct stat facts {};
    if (::stat("/proc/self/ns/pid", &facts) == 0) self.pid_namespace = facts.st_ino;
    self.pid = ::getpid();
    self.start = start_of(self.pid);
    return self;
}

Liveness look_for(const ProcessIdentity& owner, const ProcessIdentity& self)
{
    if (owner.pid <= 0) return Liveness::unknown;
    const bool exists = ::kill(static_cast<pid_t>(owner.pid), 0) == 0 || errno == EPERM;
    return liveness_of(owner, self, exists, exists ? start_of(owner.pid) : 0);
}

}  // namespace shoal::peer
