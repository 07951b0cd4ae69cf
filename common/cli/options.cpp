#include "common/cli/options.hpp"

#include "common/cli/settings.hpp"
#include "common/core/quantity.hpp"
#include "common/obs/log.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <iostream>

namespace shoal::cli {
namespace {

// CLI11 lets a config file win over the environment. It asks this "file" (/dev/null) once the command line has been read and before anything is
// checked, which is where both are filled in, in our order.
class Surroundings : public CLI::Config {
public:
    explicit Surroundings(CLI::App& app) : app_{app} {}
    std::string to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*descriptions*/, std::string /*prefix*/) const override { return {}; }
    std::vector<CLI::ConfigItem> from_config(std::istream& /*nothing*/) const override
    {
        if (const auto filled = fill_from_surroundings(app_); !filled) throw CLI::ConfigError(filled.error().text(), CLI::ExitCodes::ConfigError);
        return {};
    }

private:
    CLI::App& app_;
};

// A wrong value is told with the flag's name in front by CLI11.
template <typename Value, typename Parse>
CLI::Option* add_quantity(CLI::App& app, const std::string& flag, Value& value, const std::string& help, Parse parse)
{
    return app.add_option_function<std::string>(
        flag,
        [&value, flag, parse](const std::string& text) {
            const auto parsed = parse(text);
            if (!parsed) throw CLI::ValidationError(flag, parsed.error().message);
            value = parsed.value();
        },
        help);
}

Result<std::chrono::milliseconds> parse_some_time(std::string_view text)
{
    BOOST_OUTCOME_TRY(duration, parse_duration(text));
    if (duration.count() > 0) return duration;
    return failure(Errc::invalid, "not a time to wait: '" + std::string{text.substr(0, 100)} + "': expected more than 0, such as 200ms, 30s or 10m");
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most)
{
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc{} && end == text.data() + text.size() && count >= least && count <= most) return count;
    return failure(
        Errc::invalid, "not a number: '" + std::string{text.substr(0, 100)} + "': expected " + std::to_string(least) + " to " + std::to_string(most));
}

void let_commands_take_common_options(CLI::App& app)
{
    for (CLI::App* command : app.get_subcommands({})) {
        command->fallthrough();
        let_commands_take_common_options(*command);
    }
}

std::string command_name(const CLI::App& app, const std::string& program)
{
    std::string name = program;
    for (const CLI::App* command : app.get_subcommands()) name += " " + command->get_name();
    return name;
}

void configure_log_from(CLI::App& app)
{
    static constexpr std::array<std::pair<std::string_view, obs::Level>, 4> levels{
        {{"debug", obs::Level::debug}, {"info", obs::Level::info}, {"warning", obs::Level::warning}, {"error", obs::Level::error}}};
    const auto wanted = app.get_option("--log-level")->as<std::string>();
    const auto* level = std::find_if(levels.begin(), levels.end(), [&wanted](const auto& one) { return one.first == wanted; });
    const bool json = app.get_option("--log-format")->as<std::string>() == "json";
    obs::configure_log(level == levels.end() ? obs::Level::info : level->second, json ? obs::Format::json : obs::Format::text);
}

Parsed refuse_usage(const CLI::App& app, const std::string& program, const CLI::ParseError& error)
{
    return {false, report(program, Error{Errc::invalid, "command line: " + std::string{error.what()}, "see '" + command_name(app, program) + " --help'"})};
}

}  // namespace

void add_common(CLI::App& app, const std::string& program)
{
    app.set_version_flag("--version", program + " " + SHOAL_VERSION)->configurable(false);
    app.get_help_ptr()->configurable(false);
    app.set_config("--config", "/dev/null", "TOML file whose keys are the long flags")->option_text("FILE");
    app.config_formatter(std::make_shared<Surroundings>(app));
    app.add_option("--log-level", "What to log")
        ->option_text("debug|info|warning|error (default info)")
        ->default_str("info")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
    app.add_option("--log-format", "How to log")->option_text("text|json (default text)")->default_str("text")->check(CLI::IsMember({"text", "json"}));
}

CLI::Option* add_size(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help)
{
    return add_quantity(app, flag, value, help, parse_size)->option_text("SIZE");
}

CLI::Option* add_rate(CLI::App& app, const std::string& flag, std::uint64_t& value, const std::string& help)
{
    return add_quantity(app, flag, value, help, parse_rate)->option_text("RATE (default no limit)");
}

CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value, const std::string& help)
{
    return add_quantity(app, flag, value, help, parse_some_time)->option_text("DURATION (default " + format_duration(value) + ")");
}

CLI::Option* add_count(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least, std::uint64_t most, const std::string& help)
{
    return add_quantity(app, flag, value, help, [least, most](const std::string& text) { return parse_count(text, least, most); })->option_text("N");
}

CLI::Option* add_list(CLI::App& app, const std::string& flag, std::vector<std::string>& values, const std::string& help)
{
    return app.add_option(flag, values, help)->delimiter(',')->allow_extra_args(false);
}

CLI::Option* add_check(CLI::Option* option, std::function<Result<void>(const std::string&)> check)
{
    const auto told = [check = std::move(check)](std::string& text) {
        const Result<void> passed = check(text);
        return passed ? std::string{} : passed.error().text();
    };
    return option->check(CLI::Validator{told, ""});
}

Parsed parse(CLI::App& app, const std::string& program, int argc, char** argv)
{
    app.name(program);
    let_commands_take_common_options(app);
    try {
        app.parse(argc, argv);
        configure_log_from(app);
        return {true, 0};
    } catch (const CLI::Success& wanted) {  // --help, --version
        app.exit(wanted, std::cout, std::cerr);
        return {false, 0};
    } catch (const CLI::ParseError& error) {
        return refuse_usage(app, program, error);
    }
}

}  // namespace shoal::cli
