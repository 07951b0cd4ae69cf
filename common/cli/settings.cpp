#include "common/cli/settings.hpp"

#include "common/cli/config_file.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace shoal::cli {
namespace {

constexpr std::streamsize max_config_bytes = 1 << 20;

// The app and the commands that were chosen on the line, outermost first.
std::vector<CLI::App*> chosen(CLI::App& app)
{
    std::vector<CLI::App*> apps{&app};
    for (CLI::App* command : app.get_subcommands()) {
        for (CLI::App* one : chosen(*command)) apps.push_back(one);
    }
    return apps;
}

std::vector<CLI::Option*> open_options(CLI::App& app)
{
    return app.get_options([](const CLI::Option* option) { return option->count() == 0 && option->get_configurable() && !option->get_lnames().empty(); });
}

bool is_excluded(const CLI::Option& option)
{
    const auto& excludes = option.get_excludes();
    return std::any_of(excludes.begin(), excludes.end(), [](const CLI::Option* other) { return other->count() > 0; });
}

Result<void> give(CLI::Option& option, const std::vector<std::string>& values, const std::string& origin)
{
    if (is_excluded(option)) return success();
    const bool flag = option.get_expected_max() == 0;
    if (!flag) {
        option.add_result(values);
        return success();
    }
    if (values.size() != 1 || (values[0] != "true" && values[0] != "false" && values[0] != "1" && values[0] != "0"))
        return failure(Errc::invalid, origin + ": expected true or false");
    if (values[0] == "true" || values[0] == "1") option.add_result("true");
    return success();
}

Result<void> fill_from_environment(CLI::App& app)
{
    for (CLI::App* one : chosen(app)) {
        for (CLI::Option* option : open_options(*one)) {
            const std::string variable = variable_of(option->get_lnames()[0]);
            const char* value = std::getenv(variable.c_str());
            if (value == nullptr || *value == '\0') continue;
            BOOST_OUTCOME_TRYV(give(*option, {value}, variable));
        }
    }
    return success();
}

// "publish.tag" belongs to the command publish; "tag" to whatever command has it.
bool is_for(const CLI::App& root, const CLI::App& app, const std::string& key, std::string& flag)
{
    const auto dot = key.rfind('.');
    flag = "--" + (dot == std::string::npos ? key : key.substr(dot + 1));
    return dot == std::string::npos || (&app != &root && app.get_name() == key.substr(0, dot));
}

std::vector<CLI::App*> all_apps(CLI::App& app)
{
    std::vector<CLI::App*> apps{&app};
    for (CLI::App* command : app.get_subcommands({})) {
        for (CLI::App* one : all_apps(*command)) apps.push_back(one);
    }
    return apps;
}

bool is_known(CLI::App& root, const std::string& key)
{
    std::string flag;
    const auto apps = all_apps(root);
    return std::any_of(apps.begin(), apps.end(), [&](CLI::App* app) { return is_for(root, *app, key, flag) && app->get_option_no_throw(flag) != nullptr; });
}

Result<std::string> read_config(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    std::string text(static_cast<std::size_t>(max_config_bytes), '\0');
    file.read(text.data(), max_config_bytes);
    if (!file.is_open() || file.bad()) return failure(Errc::invalid, "config file: " + path + ": cannot be read", "give --config a readable TOML file");
    if (file.gcount() == max_config_bytes) return failure(Errc::invalid, "config file: " + path + ": larger than 1 MiB");
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

Result<void> fill_from_entry(CLI::App& root, const ConfigEntry& entry, const std::string& origin)
{
    if (!is_known(root, entry.key)) return failure(Errc::invalid, origin + ": no flag is called '" + entry.key + "'");
    std::string flag;
    for (CLI::App* app : chosen(root)) {
        CLI::Option* option = is_for(root, *app, entry.key, flag) ? app->get_option_no_throw(flag) : nullptr;
        if (option == nullptr || option->count() > 0) continue;
        if (!option->get_configurable()) return failure(Errc::invalid, origin + ": '" + entry.key + "' cannot stand in a config file");
        BOOST_OUTCOME_TRYV(give(*option, entry.values, origin));
    }
    return success();
}

Result<void> fill_from_file(CLI::App& app, const std::string& path)
{
    const auto text = read_config(path);
    if (!text) return failure(text.error());
    const auto entries = parse_config(text.value());
    if (!entries) return failure(Errc::invalid, "config file: " + path + ": " + entries.error().message);
    for (const ConfigEntry& entry : entries.value()) {
        BOOST_OUTCOME_TRYV(fill_from_entry(app, entry, "config file: " + path + ": line " + std::to_string(entry.line)));
    }
    return success();
}

std::string config_path(CLI::App& app)
{
    const CLI::Option* option = app.get_option_no_throw("--config");
    if (option != nullptr && option->count() > 0) return option->results().back();
    const char* variable = std::getenv("SHOAL_CONFIG");
    return variable == nullptr ? "" : variable;
}

}  // namespace

std::string variable_of(const std::string& flag)
{
    std::string name = "SHOAL_" + flag;
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

Result<void> fill_from_surroundings(CLI::App& app)
{
    BOOST_OUTCOME_TRYV(fill_from_environment(app));
    const std::string path = config_path(app);
    return path.empty() ? Result<void>{success()} : fill_from_file(app, path);
}

}  // namespace shoal::cli
