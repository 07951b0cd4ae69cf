// As Python's fnmatch, which the tools of this field use, and not the C library's: characters whatever the locale, and time bounded by pattern times path.
#include "common/core/utf8.hpp"
#include "common/model/names.hpp"

#include <cstdint>
#include <optional>

namespace shoal::model {
namespace {

using Characters = std::u32string_view;

// Bytes that are no UTF-8 stand for themselves, above all characters.
std::u32string characters_of(std::string_view text)
{
    constexpr char32_t raw = 0x110000;
    std::u32string out;
    while (!text.empty()) {
        const auto point = first_code_point(text);
        out += point ? point->value : raw + static_cast<std::uint8_t>(text.front());
        text.remove_prefix(point ? point->size : 1);
    }
    return out;
}

// Where the set that `glob` begins with, a "[", ends: after its "]"; none if it has none, and then the bracket is a plain one.
std::optional<std::size_t> end_of_set(Characters glob)
{
    std::size_t at = 1;
    if (at < glob.size() && glob[at] == U'!') ++at;
    const std::size_t close = at < glob.size() ? glob.find(U']', at + 1) : Characters::npos;  // the first may be a member itself
    return close == Characters::npos ? std::nullopt : std::optional{close + 1};
}

// `members`: what stands between the brackets.
bool in_set(Characters members, char32_t c)
{
    const bool negated = members.front() == U'!' && members.size() > 1;
    if (negated) members.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < members.size();) {
        const bool range = i + 2 < members.size() && members[i + 1] == U'-';
        found = found || (members[i] <= c && c <= members[range ? i + 2 : i]);
        i += range ? 3 : 1;
    }
    return found != negated;
}

// How much of `glob` the character `c` uses up; none if it does not match.
std::optional<std::size_t> match_one(Characters glob, char32_t c)
{
    if (glob.empty()) return std::nullopt;
    if (glob.front() == U'?') return 1;
    const auto end = glob.front() == U'[' ? end_of_set(glob) : std::nullopt;
    if (end) return in_set(glob.substr(1, *end - 2), c) ? end : std::nullopt;
    return glob.front() == c ? std::optional<std::size_t>{1} : std::nullopt;
}

// On a mismatch only the last star can take one character more.
bool matches(Characters glob, Characters path)
{
    std::optional<Characters> after_star;
    Characters from_star;
    while (!path.empty()) {
        if (!glob.empty() && glob.front() == U'*') {
            glob.remove_prefix(1);
            after_star = glob;
            from_star = path;
            continue;
        }
        if (const auto used = match_one(glob, path.front())) {
            glob.remove_prefix(*used);
            path.remove_prefix(1);
            continue;
        }
        if (!after_star) return false;
        from_star.remove_prefix(1);
        glob = *after_star;
        path = from_star;
    }
    return glob.find_first_not_of(U'*') == Characters::npos;
}

}  // namespace

bool glob_matches(const std::string& glob, const std::string& path)
{
    return matches(characters_of(glob.ends_with('/') ? glob + '*' : glob), characters_of(path));
}

}  // namespace shoal::model
