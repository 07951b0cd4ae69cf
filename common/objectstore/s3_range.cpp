#include "common/objectstore/s3_range.hpp"

#include <charconv>
#include <string_view>

namespace shoal::objectstore {
namespace {

std::optional<std::uint64_t> number(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || trouble != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "bytes 0-99/1000", "bytes */1000"
struct ContentRange {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last;
    std::optional<std::uint64_t> total;
};
ContentRange parse_content_range(std::string_view text)
{
    ContentRange range;
    if (!text.starts_with("bytes ")) return range;
    text.remove_prefix(6);
    const std::size_t slash = text.find('/');
    const std::size_t dash = text.find('-');
    if (slash == std::string_view::npos) return range;
    range.total = number(text.substr(slash + 1));
    if (dash == std::string_view::npos || dash > slash) return range;
    range.first = number(text.substr(0, dash));
    range.last = number(text.substr(dash + 1, slash - dash - 1));
    return range;
}

}  // namespace

std::optional<std::uint64_t> content_length(const HttpReply& reply)
{
    return number(reply.header("content-length"));
}

std::optional<std::uint64_t> shown_size(const HttpReply& reply, const Wanted& wanted)
{
    const ContentRange range = parse_content_range(reply.header("content-range"));
    if (reply.status == 416) return range.total;
    if (reply.status == 206 && range.total && range.last && *range.last + 1 == *range.total && *range.total < wanted.end()) return range.total;
    if (reply.status == 200 && !reply.too_long && content_length(reply) == reply.received && reply.received < wanted.end()) return reply.received;
    return std::nullopt;
}

bool keeps_its_word(const HttpReply& reply, const Wanted& wanted)
{
    if (shown_size(reply, wanted)) return true;
    if (reply.status == 200) return wanted.offset == 0 && reply.received >= wanted.size;
    const ContentRange range = parse_content_range(reply.header("content-range"));
    return reply.status == 206 && range.first == wanted.offset && range.last == wanted.end() - 1 && reply.received == wanted.size;
}

}  // namespace shoal::objectstore
