#include "common/obs/log.hpp"

#include "common/core/utf8.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace shoal::obs {
namespace {

constexpr std::string_view hex = "0123456789abcdef";

spdlog::level::level_enum spdlog_level(Level level)
{
    static constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
    return levels[static_cast<std::size_t>(level)];
}

struct Output {
    spdlog::logger logger{"shoal", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    std::atomic<Format> format{Format::text};

    Output()
    {
        logger.flush_on(spdlog::level::trace);
        configure(Level::info, Format::text);
    }
    void configure(Level level, Format wanted)
    {
        format = wanted;
        const char* pattern = wanted == Format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %v";
        logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
        logger.set_level(spdlog_level(level));
    }
};

Output& output()
{
    static Output only;
    return only;
}

std::string_view name(Level level)
{
    static constexpr std::array<std::string_view, 4> names{"debug", "info", "warning", "error"};
    return names[static_cast<std::size_t>(level)];
}

bool is_control(char c)
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// One line whatever the text holds: nobody forges a log line by a name with a newline.
void append_printable(std::string& line, std::string_view text, bool quoted)
{
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_control(c))
            line.append("\\x").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
        else if (quoted && (c == '"' || c == '\\'))
            line.append(1, '\\').append(1, c);
        else
            line.push_back(c);
    }
}

bool needs_quotes(std::string_view value)
{
    return value.empty() || value.find_first_of(" \"=\\") != std::string_view::npos;
}

void append_json(std::string& line, std::string_view text)
{
    line.push_back('"');
    while (!text.empty()) {
        const char c = text[0];
        const auto point = first_code_point(text);
        const std::size_t length = point ? point->size : 1;
        if (!point)
            line.append("\\ufffd");
        else if (is_control(c))
            line.append("\\u00").append(1, hex[static_cast<unsigned char>(c) >> 4U]).append(1, hex[static_cast<unsigned char>(c) & 15U]);
        else if (c == '"' || c == '\\')
            line.append(1, '\\').append(1, c);
        else
            line.append(text.substr(0, length));
        text.remove_prefix(length);
    }
    line.push_back('"');
}

std::string text_line(Level level, std::string_view message, const Fields& fields)
{
    std::string line{name(level)};
    line.resize(std::max<std::size_t>(line.size(), 5), ' ');
    line.push_back(' ');
    append_printable(line, message, false);
    for (const auto& [key, value] : fields) {
        line.append(" ").append(key).append("=");
        const bool quoted = needs_quotes(value);
        if (quoted) line.push_back('"');
        append_printable(line, value, quoted);
        if (quoted) line.push_back('"');
    }
    return line;
}

std::string json_members(Level level, std::string_view message, const Fields& fields)
{
    std::string members = R"("level":")" + std::string{name(level)} + R"(","message":)";
    append_json(members, message);
    for (const auto& [key, value] : fields) {
        members.push_back(',');
        append_json(members, key);
        members.push_back(':');
        append_json(members, value);
    }
    return members;
}

}  // namespace

void configure_log(Level level, Format format)
{
    output().configure(level, format);
}

void log(Level level, std::string_view message, const Fields& fields)
{
    Output& out = output();
    if (!out.logger.should_log(spdlog_level(level))) return;
    const std::string line = out.format == Format::json ? json_members(level, message, fields) : text_line(level, message, fields);
    out.logger.log(spdlog_level(level), spdlog::string_view_t{line.data(), line.size()});
}

}  // namespace shoal::obs
