#include "common/core/ids.hpp"

namespace shoal {
namespace {

constexpr std::string_view revision_prefix = "sha256:";

int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

std::string to_hex(const std::uint8_t* bytes, std::size_t size)
{
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text(2 * size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[2 * i] = digits[bytes[i] >> 4U];
        text[2 * i + 1] = digits[bytes[i] & 15U];
    }
    return text;
}

bool from_hex(std::string_view text, std::uint8_t* out, std::size_t size)
{
    if (text.size() != 2 * size) return false;
    for (std::size_t i = 0; i < size; ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return true;
}

std::string to_string(const RevisionId& revision)
{
    return std::string{revision_prefix} + to_hex(revision);
}

Result<RevisionId> parse_revision(std::string_view text)
{
    if (text.starts_with(revision_prefix)) {
        if (auto id = id_from_hex<RevisionId>(text.substr(revision_prefix.size()))) return id;
    }
    return failure(Errc::invalid, "malformed revision: '" + std::string{text.substr(0, 100)} + "': expected sha256:<64 lower-case hex digits>");
}

}  // namespace shoal
