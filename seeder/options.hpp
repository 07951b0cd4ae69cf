// The command line of shoal-seeder. From main.
#pragma once

#include "seeder/catalog_commands.hpp"
#include "seeder/publish.hpp"
#include "seeder/remove.hpp"
#include "seeder/serve.hpp"
#include "seeder/verify.hpp"

#include <variant>

namespace shoal::seeder {

struct Untag {
    TagOptions tag;
};

using Command = std::variant<PublishOptions, ServeOptions, ListOptions, TagOptions, Untag, VerifyOptions, RemoveOptions>;

struct CommandLine {
    bool run = false;   // else exit with:
    int exit_code = 0;  // help, version or usage: the message is printed
    Command command;
};

CommandLine parse_command_line(int argc, char** argv);

}  // namespace shoal::seeder
