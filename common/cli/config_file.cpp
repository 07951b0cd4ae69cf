#include "common/cli/config_file.hpp"

#include <algorithm>
#include <optional>

namespace shoal::cli {
namespace {

bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class Reader {
public:
    explicit Reader(std::string_view text) : rest_{text} {}

    Result<std::vector<ConfigEntry>> entries()
    {
        std::vector<ConfigEntry> found;
        for (skip(true); !rest_.empty(); skip(true)) {
            const bool good = rest_[0] == '[' ? table() : entry(found);
            if (!good || !ends_line())
                return failure(Errc::invalid, "line " + std::to_string(line_) + ": " + (complaint_.empty() ? "more than one value" : complaint_));
        }
        return found;
    }

private:
    bool refuse(std::string complaint)
    {
        complaint_ = std::move(complaint);
        return false;
    }

    char take()
    {
        const char c = rest_[0];
        rest_.remove_prefix(1);
        if (c == '\n') ++line_;
        return c;
    }

    bool take_if(char c)
    {
        if (!rest_.starts_with(c)) return false;
        take();
        return true;
    }

    // Blanks and comments; line ends too where they do not matter.
    void skip(bool lines)
    {
        while (!rest_.empty()) {
            if (rest_[0] == '#')
                rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
            else if (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r' || (lines && rest_[0] == '\n'))
                take();
            else
                return;
        }
    }

    bool ends_line()
    {
        skip(false);
        return rest_.empty() || rest_[0] == '\n';
    }

    bool key(std::string& name)
    {
        if (rest_.starts_with('"') || rest_.starts_with('\'')) return quoted(name);
        while (!rest_.empty() && (is_bare(rest_[0]) || rest_[0] == '.')) name.push_back(take());
        return !name.empty() || refuse("expected a key");
    }

    bool table()
    {
        take();
        skip(false);
        table_.clear();
        if (!key(table_)) return false;
        skip(false);
        return take_if(']') || refuse("expected ']'");
    }

    bool entry(std::vector<ConfigEntry>& found)
    {
        ConfigEntry one;
        one.line = line_;
        if (!key(one.key)) return false;
        if (!table_.empty()) one.key = table_ + "." + one.key;
        skip(false);
        if (!take_if('=')) return refuse("expected '=' after '" + one.key + "'");
        skip(false);
        if (!(rest_.starts_with('[') ? array(one.values) : value(one.values))) return false;
        const bool twice = std::any_of(found.begin(), found.end(), [&one](const ConfigEntry& other) { return other.key == one.key; });
        if (twice) return refuse("'" + one.key + "' stands there twice");
        found.push_back(std::move(one));
        return true;
    }

    bool array(std::vector<std::string>& values)
    {
        take();
        for (skip(true); !take_if(']'); skip(true)) {
            if (!value(values)) return false;
            skip(true);
            if (!take_if(',') && !rest_.starts_with(']')) return refuse("expected ',' or ']'");
        }
        return true;
    }

    bool value(std::vector<std::string>& values)
    {
        std::string text;
        if (rest_.starts_with('"') || rest_.starts_with('\'')) {
            if (!quoted(text)) return false;
        } else {
            while (!rest_.empty() && (is_bare(rest_[0]) || rest_[0] == '.' || rest_[0] == '+')) text.push_back(take());
            if (!is_plain(text)) return refuse("expected a quoted string, a number, true or false");
        }
        values.push_back(std::move(text));
        return true;
    }

    static bool is_plain(const std::string& text)
    {
        return text == "true" || text == "false" || (!text.empty() && text.find_first_not_of("0123456789+-._eE") == std::string::npos);
    }

    bool quoted(std::string& text)
    {
        const char quote = take();
        while (!rest_.empty() && rest_[0] != '\n') {
            const char c = take();
            if (c == quote) return true;
            if (c == '\\' && quote == '"') {
                if (!escape(text)) return false;
            } else {
                text.push_back(c);
            }
        }
        return refuse("a string without its end");
    }

    bool escape(std::string& text)
    {
        static constexpr std::string_view from = R"("\ntrbf)";
        static constexpr std::string_view to = "\"\\\n\t\r\b\f";
        const std::size_t at = rest_.empty() ? std::string_view::npos : from.find(rest_[0]);
        if (at == std::string_view::npos) return refuse("an escape other than \\\" \\\\ \\n \\t \\r \\b \\f");
        take();
        text.push_back(to[at]);
        return true;
    }

    std::string_view rest_;
    std::size_t line_ = 1;
    std::string table_;
    std::string complaint_;
};

}  // namespace

Result<std::vector<ConfigEntry>> parse_config(std::string_view text)
{
    return Reader{text}.entries();
}

}  // namespace shoal::cli
