// Results on stdout: one line each, at once. From one thread.
#pragma once

#include "common/core/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace shoal::seeder {

void print_line(const std::string& text);
void print_event(const nlohmann::ordered_json& event);  // one object per line; invalid UTF-8 replaced
void print_failure(const Error& error, int exit_code);  // {"event":"failed","code":..,"what":..,"hint":..}

}  // namespace shoal::seeder
