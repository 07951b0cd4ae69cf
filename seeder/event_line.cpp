#include "seeder/event_line.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace shoal::seeder {

void print_line(const std::string& text)
{
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
}

void print_event(const nlohmann::ordered_json& event)
{
    print_line(event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_failure(const Error& error, int exit_code)
{
    print_event({{"event", "failed"}, {"code", exit_code}, {"what", error.message}, {"hint", error.hint}});
}

}  // namespace shoal::seeder
