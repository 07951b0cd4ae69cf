#include "common/json/reader.hpp"

#include <algorithm>

namespace shoal::json {
namespace {

// Where the string that begins at `quote` ends: at its other quote, or with the bytes.
std::size_t end_of_string(std::string_view bytes, std::size_t quote)
{
    std::size_t at = quote + 1;
    while (at < bytes.size() && bytes[at] != '"') at += bytes[at] == '\\' ? 2 : 1;
    return at;
}

// Looks at the brackets and commas outside strings alone.
Result<void> check_shape(std::string_view bytes, Shape shape)
{
    std::size_t depth = 0;
    std::size_t commas = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char c = bytes[i];
        if (c == '"') i = end_of_string(bytes, i);
        if (c == '{' || c == '[') ++depth;
        if ((c == '}' || c == ']') && depth > 0) --depth;
        if (c == ',') ++commas;
        if (depth > shape.max_depth) return failure(Errc::malformed, "nested more than " + std::to_string(shape.max_depth) + " deep");
        if (commas > shape.max_commas) return failure(Errc::too_large, "more than " + std::to_string(shape.max_commas) + " values");
    }
    return success();
}

std::string shown(const std::string& key)
{
    return Value(key).dump(-1, ' ', true, Value::error_handler_t::replace);  // in ASCII, whatever it holds
}

const Value& nothing()
{
    static const Value none;
    return none;
}

}  // namespace

Result<Value> parse(std::string_view bytes, Shape shape)
{
    BOOST_OUTCOME_TRY(check_shape(bytes, shape));
    Value value = Value::parse(bytes, nullptr, false);
    if (value.is_discarded()) return failure(Errc::malformed, "not JSON");
    return value;
}

Reader::Reader(const Value& object, std::string where) : object_{object.is_object() ? object : nothing()}, where_{std::move(where)}
{
    if (!object.is_object()) fail("expected an object");
}

void Reader::only(std::initializer_list<const char*> names)
{
    for (const auto& member : object_.items())
        if (std::none_of(names.begin(), names.end(), [&](const char* name) { return member.key() == name; })) fail("unknown key " + shown(member.key()));
}

const Value& Reader::value(const char* name)
{
    const auto found = object_.find(name);
    if (found != object_.end()) return *found;
    fail("key '" + std::string{name} + "' is missing");
    return nothing();
}

std::string Reader::text(const char* name)
{
    const Value& found = value(name);
    if (found.is_string()) return found.get_ref<const std::string&>();
    fail(std::string{name} + ": expected a string");
    return {};
}

bool Reader::truth(const char* name)
{
    const Value& found = value(name);
    if (found.is_boolean()) return found.get<bool>();
    fail(std::string{name} + ": expected true or false");
    return false;
}

std::uint64_t Reader::number(const char* name, std::uint64_t most)
{
    const Value& found = value(name);
    if (found.is_number_unsigned() && found.get<std::uint64_t>() <= most) return found.get<std::uint64_t>();
    fail(std::string{name} + ": expected an integer from 0 to " + std::to_string(most));
    return 0;
}

std::int64_t Reader::integer(const char* name)
{
    const Value& found = value(name);
    const bool fits = !found.is_number_unsigned() || found.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (found.is_number_integer() && fits) return found.get<std::int64_t>();
    fail(std::string{name} + ": expected an integer");
    return 0;
}

Digest Reader::digest(const char* name)
{
    Digest out;
    if (!from_hex(text(name), out.bytes.data(), Digest::size)) fail(std::string{name} + ": expected 64 lower-case hexadecimal digits");
    return out;
}

const Value::array_t& Reader::array(const char* name)
{
    static const Value::array_t none;
    const Value& found = value(name);
    if (found.is_array()) return found.get_ref<const Value::array_t&>();
    fail(std::string{name} + ": expected an array");
    return none;
}

std::vector<std::string> Reader::texts(const char* name)
{
    std::vector<std::string> all;
    for (const Value& item : array(name)) {
        if (!item.is_string()) {
            fail(std::string{name} + ": expected strings");
            break;
        }
        all.push_back(item.get_ref<const std::string&>());
    }
    return all;
}

void Reader::fail(const std::string& what)
{
    if (trouble_.empty()) trouble_ = (where_.empty() ? "" : where_ + ": ") + what;
}

Result<void> Reader::result() const
{
    return trouble_.empty() ? Result<void>{success()} : failure(Errc::malformed, trouble_);
}

}  // namespace shoal::json
