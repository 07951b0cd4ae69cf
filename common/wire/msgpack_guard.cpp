#include "common/wire/msgpack_guard.hpp"

#include <msgpack.hpp>

#include <string>

namespace shoal::wire {
namespace {

class Guard : public msgpack::null_visitor {
public:
    explicit Guard(std::size_t bytes) : values_left_{bytes / 3 + 4096} {}

    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    bool visit_nil() { return value(); }
    bool visit_boolean(bool) { return value(); }
    bool visit_positive_integer(std::uint64_t) { return value(); }
    bool visit_negative_integer(std::int64_t) { return value(); }
    bool visit_float32(float) { return value(); }
    bool visit_float64(double) { return value(); }
    bool visit_str(const char*, std::uint32_t size) { return text(size); }
    bool visit_bin(const char*, std::uint32_t size) { return text(size); }
    bool visit_ext(const char*, std::uint32_t) { return refuse("an extension type"); }
    bool start_array(std::uint32_t items) { return items > max_items ? refuse("an array of more than 4096 items") : enter(); }
    bool end_array() { return leave(); }
    bool start_map(std::uint32_t keys) { return keys > max_keys ? refuse("a map of more than 256 keys") : enter(); }
    bool end_map() { return leave(); }

private:
    bool refuse(const char* what)
    {
        complaint_ = what;
        return false;
    }
    bool value()
    {
        if (values_left_ == 0) return refuse("more values than its size justifies");
        --values_left_;
        return true;
    }
    bool text(std::size_t size) { return size > max_text ? refuse("a string of more than 4096 bytes") : value(); }
    bool enter() { return ++depth_ > max_depth ? refuse("nested more than 8 deep") : value(); }
    bool leave()
    {
        --depth_;
        return true;
    }

    std::size_t values_left_;
    std::size_t depth_ = 0;
    std::string complaint_;
};

}  // namespace

Result<void> check_msgpack(ConstBytes bytes)
{
    Guard guard{bytes.size()};
    const std::string_view text = as_text(bytes);
    std::size_t read = 0;
    const bool whole = msgpack::parse(text.data(), text.size(), read, guard);
    if (!guard.complaint().empty()) return failure(Errc::too_large, "message: holds " + guard.complaint());
    if (!whole) return failure(Errc::malformed, "message: cut off or not msgpack");
    if (read != text.size()) return failure(Errc::malformed, "message: " + std::to_string(text.size() - read) + " bytes after its end");
    return success();
}

}  // namespace shoal::wire
