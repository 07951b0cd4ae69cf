#include "common/model/names.hpp"

#include "common/core/utf8.hpp"

#include <algorithm>

namespace shoal::model {
namespace {

constexpr std::size_t max_name = 255;
constexpr std::size_t max_tag = 128;
constexpr std::size_t max_path = 4096;
constexpr std::size_t max_part = 255;
constexpr std::size_t max_shown = 300;  // bytes of a refused text that an error shows

bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// [A-Za-z0-9][A-Za-z0-9._-]*
bool is_word(std::string_view text)
{
    if (text.empty() || !is_alphanumeric(text.front())) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

template <typename Check>
bool all_parts(std::string_view text, Check check)
{
    for (;;) {
        const std::size_t slash = text.find('/');
        if (!check(text.substr(0, slash))) return false;
        if (slash == std::string_view::npos) return true;
        text.remove_prefix(slash + 1);
    }
}

// What is wrong with a path; empty if nothing is.
std::string_view trouble_with(std::string_view path)
{
    if (path.empty()) return "it is empty";
    if (path.size() > max_path) return "it is longer than 4096 bytes";
    if (path.front() == '/') return "it is not relative";
    if (path.find('\0') != std::string_view::npos) return "it holds a NUL byte";
    if (path.find('\\') != std::string_view::npos) return "it holds a backslash";
    if (!is_utf8(path)) return "it is not UTF-8";
    if (path.starts_with(".shoal")) return "names that begin with .shoal are Shoal's own";
    if (static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) >= max_path_parts) return "it has more than 64 parts";
    if (!all_parts(path, [](std::string_view part) { return !part.empty() && part != "." && part != ".."; })) return "it has an empty, '.' or '..' part";
    if (!all_parts(path, [](std::string_view part) { return part.size() <= max_part; })) return "it has a part of more than 255 bytes";
    return {};
}

std::string shown(std::string_view text)
{
    return "'" + printable(text.substr(0, max_shown)) + (text.size() > max_shown ? "…" : "") + "'";
}

}  // namespace

Result<void> check_model_name(std::string_view name)
{
    if (name.size() <= max_name && all_parts(name, is_word)) return success();
    return failure(Errc::invalid, "cannot use model name: " + shown(name) + ": expected parts of letters, digits, '.', '_', '-' between '/', 255 bytes in all",
        "begin each part with a letter or digit");
}

Result<void> check_tag(std::string_view tag)
{
    if (tag.size() <= max_tag && is_word(tag)) return success();
    return failure(Errc::invalid, "cannot use tag: " + shown(tag) + ": expected at most 128 letters, digits, '.', '_', '-'", "begin with a letter or digit");
}

Result<void> check_path(std::string_view path)
{
    const std::string_view trouble = trouble_with(path);
    if (trouble.empty()) return success();
    return failure(Errc::invalid, "cannot use path: " + shown(path) + ": " + std::string{trouble});
}

std::string flat_name(std::string_view model_name)
{
    std::string flat{model_name};
    std::replace(flat.begin(), flat.end(), '/', '~');
    return flat;
}

}  // namespace shoal::model
